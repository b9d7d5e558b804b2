"""Server-sent events out of bytes that may be cut anywhere."""

import codecs

import msgspec

LARGEST_EVENT = 64 * 1024 * 1024
"""Bytes of one event beyond which the stream is taken for broken."""


class ServerSentEvent(msgspec.Struct, frozen=True):
    """One event: its type, empty if none was given, and its data in UTF-8, with lines joined by newlines."""

    data: bytes
    event: str = ""


class EventParser:
    """Turns chunks into events as the HTML standard says; the cost is linear in the bytes fed."""

    def __init__(self, *, largest: int = LARGEST_EVENT) -> None:
        self._largest = largest
        self._partial: list[bytes] = []
        self._data: list[bytes] = []
        self._event = ""
        self._held = 0
        self._after_cr = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Return the events that `chunk` completes. Raises ValueError when one grows too large."""
        if not chunk:
            return []
        if not self._held and len(chunk) <= self._largest and (plain := _plain_events(chunk)):
            self._after_cr = self._at_start = False
            return plain
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_cr = False
        events: list[ServerSentEvent] = []
        for line in chunk.splitlines(keepends=True):
            self._held += len(line)
            if not line.endswith((b"\n", b"\r")):
                self._partial.append(line)
            elif event := self._line(line):
                events.append(event)
            if self._held > self._largest:
                raise ValueError(f"an event of the stream is larger than {self._largest} bytes")
        self._after_cr = chunk.endswith(b"\r")
        return events

    def finish(self) -> list[ServerSentEvent]:
        """Return the event that the stream's end completes, if its last blank line was left out."""
        event = self._line(b"") or self._dispatch()
        return [event] if event else []

    def _line(self, end: bytes) -> ServerSentEvent | None:
        """Take a line, of which all but the end is there; return the event that it completes."""
        if self._partial:
            end = b"".join((*self._partial, end))
            self._partial.clear()
        raw = end.rstrip(b"\r\n")
        if self._at_start:
            raw = raw.removeprefix(codecs.BOM_UTF8)
            self._at_start = False
        if not raw:
            return self._dispatch()
        field, _, value = raw.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._event = value.decode(errors="replace")
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        event = ServerSentEvent(_utf8(b"\n".join(self._data)), self._event) if self._data else None
        self._data.clear()
        self._event = ""
        self._held = 0
        return event


def _plain_events(chunk: bytes) -> list[ServerSentEvent]:
    """Return the events of a chunk that is whole ones of one line of data, as most are; of others none."""
    if not (chunk.startswith(b"data: ") and chunk.endswith(b"\n\n")) or chunk.find(b"\r") >= 0:
        return []
    data = _utf8(chunk[6:-2]).split(b"\n\ndata: ")
    is_plain = chunk.count(b"\n") == 2 * len(data)
    return [ServerSentEvent(piece) for piece in data] if is_plain else []


def _utf8(data: bytes) -> bytes:
    """Return `data` with what is not UTF-8 replaced by U+FFFD."""
    return data if data.isascii() else data.decode(errors="replace").encode()
