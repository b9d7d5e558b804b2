"""Server-sent events out of bytes that may be cut anywhere."""

import codecs

import msgspec

LARGEST_EVENT = 64 * 1024 * 1024
"""Bytes of one event beyond which the stream is taken for broken."""


class ServerSentEvent(msgspec.Struct, frozen=True):
    """One event: its type, empty if none was given, and its data with lines joined by newlines."""

    data: str
    event: str = ""


class EventParser:
    """Turns chunks into events as the HTML standard says; the cost is linear in the bytes fed."""

    def __init__(self, *, largest: int = LARGEST_EVENT) -> None:
        self._largest = largest
        self._partial: list[bytes] = []
        self._data: list[str] = []
        self._event = ""
        self._held = 0
        self._after_cr = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Return the events that `chunk` completes. Raises ValueError when one grows too large."""
        if not chunk:
            return []
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
        field, _, value = raw.decode(errors="replace").partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._event = value
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        event = ServerSentEvent("\n".join(self._data), self._event) if self._data else None
        self._data.clear()
        self._event = ""
        self._held = 0
        return event
