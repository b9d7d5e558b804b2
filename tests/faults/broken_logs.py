"""A log is cut at each of its bytes, or has bits flipped: what comes back is what was written, and whole."""

import bisect
import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tests.faults.long_log import LongLog
from turnwright.protocol.envelope import Event
from turnwright.store.checksums import NOTHING, Altered, Sum, verify
from turnwright.store.load import load
from turnwright.store.memory import MemoryLog
from turnwright.store.salvage import events_of

SIZE = 100_000


class Tally(NamedTuple):
    """How many were tried; in how many an event was lost that was whole; in how many one came back altered.

    An altered event is one that a flipped bit has turned into another that is as valid: a letter of a text.
    `unseen` are those that the log's sums didn't tell.
    """

    tried: int
    lost: int
    altered: int
    unseen: int = 0


class CutLog(MemoryLog):
    """A log in memory whose last line may have no end."""

    def __init__(self, data: bytes, sums: Sequence[Sum] = ()) -> None:
        super().__init__()
        self._sums = sums
        self.lines = data.split(b"\n")
        self._has_end = not self.lines[-1]
        if self._has_end:
            self.lines.pop()
        self.size = len(data)

    def verify(self, start: int = 0) -> Altered | None:
        if not self._sums:
            return None
        return verify([b"\n".join(self.lines) + b"\n" * self._has_end], self._sums).altered

    @property
    def is_ended(self) -> bool:
        return self._has_end

    def rewrite(self, lines: Iterable[bytes]) -> None:
        super().rewrite(lines)
        self._has_end = True

    def end_at(self, size: int) -> None:
        self.lines = b"\n".join(self.lines)[:size].removesuffix(b"\n").split(b"\n") if size else []
        self.size = sum(len(line) + 1 for line in self.lines)
        self._has_end = True


def a_log() -> list[bytes]:
    """Events of a session, a hundred kilobytes of them."""
    sizes = itertools.accumulate(map(_length, LongLog(output=400).events(2000)), initial=0)
    count = sum(size < SIZE for size in sizes)
    return [event.encoded for event in itertools.islice(LongLog(output=400).events(2000), count)]


def _length(event: Event) -> int:
    return len(event.encoded) + 1


def cuts(lines: list[bytes], step: int = 1) -> Tally:
    """Cut a log at every `step`-th byte, and load it."""
    whole = b"".join(line + b"\n" for line in lines)
    ends = list(itertools.accumulate(len(line) + 1 for line in lines))
    tried = lost = altered = 0
    for cut in range(0, len(whole) + 1, step):
        log = CutLog(whole[:cut])
        load(log)
        kept = bisect.bisect_right(ends, cut + 1)
        tried += 1
        lost += log.lines[:kept] != lines[:kept]
        altered += log.lines[kept:] != []
    return Tally(tried, lost, altered)


def flips(lines: list[bytes], count: int, seed: int = 1) -> Tally:
    """Flip one bit of a log at random, so many times, and load it."""
    whole = b"".join(line + b"\n" for line in lines)
    chance = random.Random(seed)
    written = set(lines)
    sums = list(_sums(lines))
    tried = lost = altered = unseen = 0
    for _ in range(count):
        bit = chance.randrange(len(whole) * 8)
        spoiled = bytearray(whole)
        spoiled[bit // 8] ^= 1 << bit % 8
        log = CutLog(bytes(spoiled), sums)
        told = load(log).altered
        found = [kept for line in log.lines for kept in _encoded(line, written)]
        hit = whole.count(b"\n", 0, bit // 8)
        spared = [line for number, line in enumerate(lines) if number != hit]
        tried += 1
        lost += [line for line in found if line in written and line != lines[hit]] != spared
        changed = any(line not in written for line in found)
        altered += changed
        unseen += changed and told is None
    return Tally(tried, lost, altered, unseen)


def _encoded(line: bytes, written: set[bytes]) -> Iterable[bytes]:
    """The events of a line as they are encoded; one that was written is known to be one."""
    return (line,) if line in written else (event.encoded for event in events_of([line]))


def _sums(lines: list[bytes]) -> Iterator[Sum]:
    """The sums of a log as they are noted: at each turn's end, and at the log's."""
    sum = NOTHING
    for line in lines:
        sum = sum.after(line + b"\n")
        if b'"assistant.turn_end"' in line or line is lines[-1]:
            yield sum
