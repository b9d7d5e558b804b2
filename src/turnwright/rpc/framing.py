"""Frames of the wire: one header line `Content-Length: N`, an empty line, N bytes of JSON."""

import re
from collections.abc import Iterable

from turnwright.errors import ConnectionClosed, RequestFailed
from turnwright.rpc.messages import INVALID_REQUEST

FRAME_LIMIT = 100 * 1024 * 1024
"""The largest body that is read, in bytes."""

HEADER_LIMIT = 8 * 1024

_END = b"\r\n\r\n"
_LENGTH_DIGITS = 18
_PLAIN_HEADER = re.compile(rb"Content-Length: ([0-9]{1,18})\r\n\r\n")


def encode(messages: Iterable[bytes]) -> bytes:
    """Frame `messages`, ready for one write."""
    parts: list[bytes] = []
    for body in messages:
        parts += (b"Content-Length: %d\r\n\r\n" % len(body), body)
    return b"".join(parts)


class Decoder:
    """Takes bytes as they come and gives the messages in them.

    `limit` is the largest body in bytes. A larger one is skipped without being stored.
    """

    def __init__(self, limit: int = FRAME_LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._scanned = 0  # so much of the buffer is known not to end a header
        self._length: int | None = None  # of the body that comes next; None while in a header
        self._skip = 0

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        self._buffer += data
        self._drop_skipped()

    def next_message(self) -> bytes | None:
        """Return the next whole message, or None when more bytes are needed.

        Raises RequestFailed for a body over the limit, once, after which reading can go on; raises
        ConnectionClosed for a bad header, after which it can't: nobody knows where the next frame starts.
        """
        if self._length is None:
            self._length = self._next_length()
        if self._length is None or len(self._buffer) < self._length:
            return None
        body = bytes(self._buffer[: self._length])
        del self._buffer[: self._length]
        self._length = None
        return body

    def _next_length(self) -> int | None:
        """Take a whole header from the buffer and return the length in it; None when there is none yet."""
        if not self._buffer:
            return None
        plain = _PLAIN_HEADER.match(self._buffer)  # what everyone sends, in a third of the time
        if plain is not None:
            length, end = int(plain[1]), plain.end()
        elif (end := self._find_end()) is not None:
            length = _content_length(bytes(self._buffer[: end - len(_END)]))
        else:
            return None
        del self._buffer[:end]
        self._scanned = 0
        if length <= self._limit:
            return length
        self._skip = length
        self._drop_skipped()
        raise RequestFailed(
            INVALID_REQUEST, f"Content-Length: {length} bytes is over the limit of {self._limit}"
        )

    def _find_end(self) -> int | None:
        """Return where the header ends, None when it goes on; raise ConnectionClosed when it never will."""
        buffer = self._buffer
        # A client that speaks another protocol hears of it at once, not after 8 KiB.
        if buffer and not buffer[:1].isalpha():
            raise _bad_header(buffer)
        found = buffer.find(_END, max(0, self._scanned - len(_END) + 1), HEADER_LIMIT)
        if found >= 0:
            return found + len(_END)
        self._scanned = len(buffer)
        if len(buffer) >= HEADER_LIMIT:
            raise _bad_header(buffer)
        return None

    def _drop_skipped(self) -> None:
        if self._skip:
            dropped = min(self._skip, len(self._buffer))
            del self._buffer[:dropped]
            self._skip -= dropped


def _content_length(header: bytes) -> int:
    """Return the length that `header` declares; raise ConnectionClosed unless it does so exactly once."""
    lengths: list[bytes] = []
    for line in header.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if not colon:
            raise _bad_header(header)
        if name.strip().lower() == b"content-length":
            lengths.append(value.strip())
    if len(lengths) != 1 or not lengths[0].isdigit() or len(lengths[0]) > _LENGTH_DIGITS:
        raise _bad_header(header)
    return int(lengths[0])


def _bad_header(header: bytes | bytearray) -> ConnectionClosed:
    return ConnectionClosed(f"Content-Length: N was expected, not {bytes(header[:60])!r}")
