"""Frames come out whole, however the bytes come in."""

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwright.errors import ConnectionClosed, RequestFailed
from turnwright.rpc.framing import HEADER_LIMIT, Decoder, encode

MEBI = 1024 * 1024


def taken(decoder: Decoder, data: bytes) -> list[bytes]:
    """Feed `data` and take all messages that are whole by then."""
    decoder.feed(data)
    messages: list[bytes] = []
    while (message := decoder.next_message()) is not None:
        messages.append(message)
    return messages


@given(bodies=st.lists(st.binary(max_size=300)), cuts=st.lists(st.integers(0, 2000)))
def test_any_chunking_gives_the_same_messages(bodies: list[bytes], cuts: list[int]) -> None:
    data = encode(bodies)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    decoder = Decoder()
    assert [m for start, end in pairwise(edges) for m in taken(decoder, data[start:end])] == bodies


@given(chunks=st.lists(st.binary(max_size=50)))
def test_garbage_ends_in_a_refusal_or_a_message_and_nothing_else(chunks: list[bytes]) -> None:
    decoder = Decoder(limit=100)
    for chunk in chunks:
        decoder.feed(b"Content-Length:" + chunk)
        try:
            decoder.next_message()
        except RequestFailed:
            continue
        except ConnectionClosed:
            return


def test_a_frame_has_exactly_one_header_line() -> None:
    body = '{"a":"é"}'.encode()
    assert encode([body, b""]) == b"Content-Length: 10\r\n\r\n" + body + b"Content-Length: 0\r\n\r\n"


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: 2\r\n\r\n",
        b"CONTENT-LENGTH:2\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length:   2  \r\n\r\n",
        b"Content-Length: 2\r\nX-Other: a: b\r\n\r\n",
    ],
)
def test_headers_of_any_case_and_others_beside_it_are_read(header: bytes) -> None:
    assert taken(Decoder(), header + b"{}") == [b"{}"]


def test_a_megabyte_arrives_a_byte_at_a_time_and_three_messages_at_once() -> None:
    """B95."""
    body = b"x" * MEBI
    decoder = Decoder()
    messages: list[bytes] = []
    for byte in encode([body]):
        decoder.feed(bytes((byte,)))
        if (message := decoder.next_message()) is not None:
            messages.append(message)
    assert messages == [body]
    assert taken(decoder, encode([b"1", body, b"3"])) == [b"1", body, b"3"]


def test_a_declared_gigabyte_is_refused_at_once_and_skipped_without_being_stored() -> None:
    decoder = Decoder()
    decoder.feed(encode([b"before"]) + b"Content-Length: 1073741824\r\n\r\n")
    assert decoder.next_message() == b"before"
    with pytest.raises(RequestFailed) as refusal:
        decoder.next_message()
    assert refusal.value.code == -32600
    assert str(refusal.value) == "Content-Length: 1073741824 bytes is over the limit of 104857600"
    chunk = b"\0" * MEBI
    tracemalloc.start()
    try:
        for _ in range(1024):
            assert taken(decoder, chunk) == []
        assert tracemalloc.get_traced_memory()[1] < 4 * MEBI
    finally:
        tracemalloc.stop()
    assert taken(decoder, encode([b"after"])) == [b"after"]


def test_a_body_of_just_the_limit_is_taken_and_one_byte_more_is_not() -> None:
    decoder = Decoder(limit=5)
    assert taken(decoder, encode([b"12345"])) == [b"12345"]
    with pytest.raises(RequestFailed):
        taken(decoder, encode([b"123456", b"7"]))
    assert decoder.next_message() == b"7"


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        b"\r\n\r\n{}",
        b"Content-Length: two\r\n\r\n{}",
        b"Content-Length: -2\r\n\r\n{}",
        b"Content-Length: +2\r\n\r\n{}",
        b"Content-Length: \xb2\r\n\r\n{}",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"Content-Type: text/plain\r\n\r\n{}",
        b"Content-Length 2\r\n\r\n{}",
        b"a" * HEADER_LIMIT,
    ],
)
def test_a_bad_header_is_fatal_after_what_came_before_it(data: bytes) -> None:
    decoder = Decoder()
    decoder.feed(encode([b"before"]) + data)
    assert decoder.next_message() == b"before"
    for _ in range(2):
        with pytest.raises(ConnectionClosed, match=r"^Content-Length: N was expected, not b"):
            decoder.next_message()


@pytest.mark.parametrize("size", [1, 100])
def test_a_header_that_begins_with_no_letter_is_refused_however_it_comes(size: int) -> None:
    data = b"7content-type: x\r\nContent-Length: 2\r\n\r\n{}"
    decoder = Decoder()
    decoder.feed(data[:size])
    with pytest.raises(ConnectionClosed):
        decoder.next_message()
