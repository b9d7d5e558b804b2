"""Checksums beside a log: what a disk or another program changed in it doesn't pass for what was written."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import msgspec

from turnwright.protocol.wire import Wire

SUMS_NAME = "events.jsonl.sums"


class Sum(msgspec.Struct, frozen=True, order=True, gc=False):
    """The CRC-32 of a log's first `size` bytes."""

    size: int
    crc: int

    def after(self, data: bytes | memoryview) -> "Sum":
        """The sum with more bytes behind it."""
        return Sum(self.size + len(data), crc32(data, self.crc))


NOTHING = Sum(0, 0)


class Altered(Wire):
    """The bytes of a log that are not those that were written: somewhere from `start` on, before `end`."""

    start: int
    end: int

    def __str__(self) -> str:
        return (
            f"The session's log is not what was written: something between bytes {self.start} and {self.end} "
            "was changed. What can be read of it was kept."
        )


class Verified(NamedTuple):
    """What a whole log's sum is now, and where it was altered, if it was."""

    sum: Sum
    altered: Altered | None


def verify(blocks: Iterable[bytes], noted: Iterable[Sum], start: Sum = NOTHING) -> Verified:
    """Compare a log, from a sum on that is taken for right, with those that were noted of it.

    Sums beyond its end say nothing.
    """
    found, right, altered = start, start, None
    waiting = iter(sorted(sum for sum in set(noted) if sum.size > start.size))
    following = next(waiting, None)
    for block in blocks:
        rest = memoryview(block)
        while following is not None and following.size <= found.size + len(rest):
            length = following.size - found.size
            found, rest = found.after(rest[:length]), rest[length:]
            if found == following:
                right = found
            elif altered is None:
                altered = Altered(right.size, following.size)
            following = next(waiting, None)
        found = found.after(rest)
    return Verified(found, altered)


class Checksums:
    """The sums of one log in a file of their own, a line each, `SIZE CRC` in hexadecimal.

    They guard what they can: where they can't be written or read, a log is as safe as without them.
    """

    def __init__(self, log: Path) -> None:
        # A text, as each session makes one: a path takes five times as long.
        self._name = os.path.join(os.path.dirname(log), SUMS_NAME)  # noqa: PTH118, PTH120
        self._fd = -1

    def note(self, sum: Sum) -> None:
        """Keep the sum of what the disk has by now."""
        with suppress(OSError):
            if self._fd < 0:
                self._fd = self._open()
            os.write(self._fd, b"%x %08x\n" % (sum.size, sum.crc))

    def forget(self) -> None:
        """The log is about to be another: what was noted of it no longer holds."""
        self.close()
        with suppress(OSError):
            os.unlink(self._name)  # noqa: PTH108

    def _open(self) -> int:
        return os.open(self._name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def close(self) -> None:
        """Let go of the file, until the next sum."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def noted(self) -> Iterator[Sum]:
        """The sums of the log as far as they can be read."""
        with suppress(OSError):
            for line in Path(self._name).read_bytes().splitlines():
                with suppress(ValueError):
                    size, crc = line.split()
                    yield Sum(int(size, 16), int(crc, 16))
