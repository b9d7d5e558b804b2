"""Server-sent events, however the network cuts them."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwright.providers.sse import EventParser, ServerSentEvent

STREAM = (
    b"\xef\xbb\xbf: a comment\n"
    b"data: one\r\ndata:two\r\n\r\n"
    b'event: error\rdata: {"t": "\xe2\x82\xac \xf0\x9f\x98\x80"}\r\r'
    b"id: 7\nretry: 10\nnonsense\n\n"
    b"data:\n\n"
    b"data: the last, without its blank line"
)
EVENTS = [
    ServerSentEvent(b"one\ntwo"),
    ServerSentEvent('{"t": "€ 😀"}'.encode(), "error"),
    ServerSentEvent(b""),
    ServerSentEvent(b"the last, without its blank line"),
]


def parse(chunks: list[bytes]) -> list[ServerSentEvent]:
    parser = EventParser()
    return [event for chunk in chunks for event in parser.feed(chunk)] + parser.finish()


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_events_are_the_same_wherever_the_bytes_are_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    assert parse([STREAM[a:b] for a, b in pairwise(edges)]) == EVENTS


def test_events_are_the_same_a_byte_at_a_time() -> None:
    assert parse([STREAM[n : n + 1] for n in range(len(STREAM))]) == EVENTS


BOM = b"\xef\xbb\xbf"
INSIDE = st.lists(
    st.sampled_from(
        [b"\n\ndata: ", b"\n", b"\r", b"\ndata:", b"\nevent: e", b"\n\n", b":", b" ", b"\xff", b"\xc3"]
    )
)
CHUNKS = st.one_of(
    INSIDE.map(lambda inside: b"data: " + b"".join(inside) + b"\n\n"),
    st.sampled_from(
        [b"data: {}\n\n", BOM, b"\n", b"data: a", b"data: a\r\r", b"event: e\n", BOM + b"data: a\n\n"]
    ),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(CHUNKS, max_size=4))
def test_whole_events_at_once_are_read_as_they_are_a_byte_at_a_time(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    assert parse(chunks) == parse([whole[n : n + 1] for n in range(len(whole))])


@pytest.mark.parametrize("cut", [False, True])
def test_bytes_that_are_not_utf8_are_replaced(cut: bool) -> None:
    stream = b"data: a\xffb\n\ndata: \xe2\x82\n\n"
    events = [ServerSentEvent("a\ufffdb".encode()), ServerSentEvent("\ufffd".encode())]
    assert parse([stream[n : n + 1] for n in range(len(stream))] if cut else [stream]) == events


def test_an_event_without_an_end_is_refused_before_it_fills_the_memory() -> None:
    parser = EventParser(largest=100)
    assert parser.feed(b"x" * 60) == []
    with pytest.raises(ValueError, match="larger than 100 bytes"):
        parser.feed(b"x" * 60)


def test_a_whole_event_is_refused_when_it_is_too_large_and_many_small_ones_are_not() -> None:
    small, large = b"data: " + b"x" * 93 + b"\n\n", b"data: " + b"x" * 94 + b"\n\n"
    assert EventParser(largest=100).feed(small * 3) == [ServerSentEvent(b"x" * 93)] * 3
    with pytest.raises(ValueError, match="larger than 100 bytes"):
        EventParser(largest=100).feed(large)
