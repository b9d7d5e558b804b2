"""Mending a log: every whole event stays, the rest is set aside beside it."""

from collections.abc import Iterator

from turnwright.protocol.wire import Wire
from turnwright.store.base import EventLog
from turnwright.store.salvage import Piece, event_of, salvage


class Damage(Wire):
    """What was no event in a log, and went out of it; lines are counted from 1."""

    first_line: int
    lines: int
    bytes: int

    def __str__(self) -> str:
        where = (
            f"line {self.first_line}" if self.lines == 1 else f"{self.lines} lines from {self.first_line} on"
        )
        return (
            f"The session's log was damaged in {where}: {self.bytes} bytes that are no event were set aside."
        )


def mend(log: EventLog) -> Damage | None:
    """Mend a log that is held; what there was to mend. Raises StoreError, and then no event is lost.

    A damaged end, which is what a crash leaves, is cut off in place; for other damage the log is rewritten.
    """
    damaged, last, start = _survey(log)
    if not damaged:
        if not log.is_ended:
            log.end_at(log.size)
        return None
    junk = [piece.data for pieces in damaged.values() for piece in pieces if piece.event is None]
    if junk:
        log.set_aside(junk)
    if [*damaged] == [last] and len(kept := _kept(damaged[last])) < 2 and damaged[last][: len(kept)] == kept:
        log.end_at(start + sum(len(piece.data) for piece in kept))
    else:
        log.rewrite(_whole_lines(log, damaged))
    return Damage(min(damaged), len(damaged), sum(map(len, junk)))


def _survey(log: EventLog) -> tuple[dict[int, list[Piece]], int, int]:
    """The damaged lines by number, the last line's number, and the byte at which it starts."""
    damaged: dict[int, list[Piece]] = {}
    number = start = following = 0
    for number, line in enumerate(log.read(), 1):
        start, following = following, following + len(line) + 1
        if event_of(line) is None:
            damaged[number] = salvage(line, ended=following <= log.size)
    return damaged, number, start


def _whole_lines(log: EventLog, damaged: dict[int, list[Piece]]) -> Iterator[bytes]:
    for number, line in enumerate(log.read(), 1):
        if number in damaged:
            yield from (piece.data for piece in _kept(damaged[number]))
        else:
            yield line


def _kept(pieces: list[Piece]) -> list[Piece]:
    return [piece for piece in pieces if piece.event is not None]
