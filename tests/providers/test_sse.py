"""Server-sent events, however the network cuts them."""

from itertools import pairwise

import pytest
from hypothesis import given
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
    ServerSentEvent("one\ntwo"),
    ServerSentEvent('{"t": "€ 😀"}', "error"),
    ServerSentEvent(""),
    ServerSentEvent("the last, without its blank line"),
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


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    assert parse([b"data: a\xffb\n\n"]) == [ServerSentEvent("a\ufffdb")]


def test_an_event_without_an_end_is_refused_before_it_fills_the_memory() -> None:
    parser = EventParser(largest=100)
    assert parser.feed(b"x" * 60) == []
    with pytest.raises(ValueError, match="larger than 100 bytes"):
        parser.feed(b"x" * 60)
