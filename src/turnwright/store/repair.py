"""Repairing a log so that an audit finds it sound, as far as what is lost allows."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from turnwright.protocol.envelope import Event
from turnwright.protocol.events.session import SessionStart
from turnwright.protocol.wire import Wire
from turnwright.store.audit import VERSION, is_fleeting, is_misshapen
from turnwright.store.balance import Entry, balanced
from turnwright.store.relink import changed, is_time, relinked
from turnwright.store.salvage import event_of, salvage


class Change(Wire):
    """What was done, and in which line of the original, counted from 1."""

    line: int
    text: str


class Repaired(NamedTuple):
    """The log's lines as they should be, what was taken out of it, and what was changed."""

    lines: list[bytes]
    aside: list[bytes]
    changes: list[Change]


def repair(lines: Iterable[bytes]) -> Repaired:
    """Mend a log, given as a file gives it: lines with their newlines.

    Whole events stay, in order. What is no event, and what belongs to nothing in the log, is set aside; turns
    and calls that were cut off get the end or the result that a resume would give them.
    """
    return _Repair().of(lines)


class _Repair:
    def __init__(self) -> None:
        self._aside: list[bytes] = []
        self._changes: list[Change] = []

    def of(self, lines: Iterable[bytes]) -> Repaired:
        started = self._started(list(self._admitted(self._whole(lines))))
        kept: list[Entry] = []
        for entry in balanced(started):
            line, event, why, is_new = entry
            if why and not is_new:
                self._drop(line, event.encoded, why)
                continue
            if is_new:
                self._say(line, f"{why}: it was added")
                neighbour = kept[-1] if kept else started[0]
                entry = entry._replace(event=changed(event, {"timestamp": neighbour.event.timestamp}))
            kept.append(entry)
        linked = list(relinked(entry.event for entry in kept))
        self._say_of_envelopes(kept, linked)
        self._changes.sort(key=lambda change: change.line)
        return Repaired([event.encoded for event in linked], self._aside, self._changes)

    def _whole(self, lines: Iterable[bytes]) -> Iterator[Entry]:
        """The whole events, those on damaged lines too."""
        for number, raw in enumerate(lines, 1):
            line = raw.removesuffix(b"\n")
            event = event_of(line)
            if event is not None:
                if line is raw:
                    self._say(number, "the last line had no end: it was added")
                yield Entry(number, event)
                continue
            pieces = salvage(line, ended=line is not raw)
            junk = [piece.data for piece in pieces if piece.event is None]
            if junk:
                self._aside += junk
                self._say(number, f"{sum(map(len, junk))} bytes that are no event were set aside")
            found = [Entry(number, piece.event) for piece in pieces if piece.event is not None]
            if len(found) > 1:
                self._say(number, f"{len(found)} events stood on one line")
            yield from found

    def _admitted(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Those that belong into a log, once each."""
        seen: dict[str, bytes] = {}
        for entry in entries:
            event = entry.event
            if is_fleeting(event):
                self._drop(entry.line, event.encoded, f"{event.type} is ephemeral")
            elif is_misshapen(event):
                self._drop(entry.line, event.encoded, f"{event.type} has not the fields of its type")
            elif seen.get(event.id) == event.encoded:
                self._drop(entry.line, event.encoded, "the event stands in the log before")
            else:
                seen.setdefault(event.id, event.encoded)
                yield entry

    def _started(self, entries: list[Entry]) -> list[Entry]:
        """With the first session.start as the first event, and no other."""
        starts = [entry for entry in entries if entry.event.type == "session.start"]
        for entry in starts[1:]:
            self._drop(entry.line, entry.event.encoded, "session.start stands in the log before")
        rest = [entry for entry in entries if entry.event.type != "session.start"]
        if starts and entries[0] is not starts[0]:
            self._say(starts[0].line, "session.start was not the first event: it was moved there")
        return [*starts[:1], *rest]

    def _say_of_envelopes(self, before: list[Entry], after: list[Event]) -> None:
        moved: list[int] = []
        for (line, old, _, is_new), new in zip(before, after, strict=True):
            if old.parent_id != new.parent_id and not is_new:
                moved.append(line)
            if old.id != new.id:
                self._say(line, f"the id {old.id!r} was not its own: it has a new one")
            if not is_time(old.timestamp):
                self._say(line, f"{old.timestamp!r} is no time: it has that of the event before")
        if moved:
            events = "1 event has" if len(moved) == 1 else f"{len(moved)} events have"
            self._say(moved[0], f"the chain of parents was broken: {events} another one")

    def _drop(self, line: int, data: bytes, why: str) -> None:
        self._aside.append(data)
        self._say(line, f"{why}: it was set aside")

    def _say(self, line: int, text: str) -> None:
        self._changes.append(Change(line, text))


def obstacle(lines: Iterable[bytes]) -> str | None:
    """Why a log, as it would be after a repair, is nothing that can be resumed; None when it can be."""
    first = next(iter(lines), None)
    event = event_of(first) if first is not None else None
    match event.data if event is not None else None:
        case SessionStart(version=version) if version == VERSION:
            return None
        case SessionStart(version=version):
            return f"its version is {version}, and not {VERSION}"
        case _:
            return "it has no session.start, which says what session it is"
