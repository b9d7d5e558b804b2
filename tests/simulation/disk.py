"""A disk that runs full, stalls, and takes no more once its process is dead."""

import asyncio
import errno
import os
from collections.abc import Callable
from pathlib import Path

from tests.simulation.faults import Faults
from turnwright.engine.journal.off_loop import Done, Work, outcome
from turnwright.store.disk import Disk

QUICK = 0.002
STALLED = (1.0, 45.0)
"""Seconds that a sync takes; the engine waits thirty for one."""


class SimulatedDisk(Disk):
    """One process's way to the real files. `die` is called in the middle of the write numbered `dies_at`."""

    def __init__(self, faults: Faults, die: Callable[[], None]) -> None:
        self._faults = faults
        self._die = die
        self.dies_at = -1
        self.writes = 0
        self.is_dead = False
        self.is_full = False

    def open(self, path: Path, flags: int) -> int:
        if self.is_dead:  # what it would make, it makes nowhere
            return super().open(Path(os.devnull) if flags & os.O_CREAT else path, os.O_RDONLY)
        self._take_room(bool(flags & os.O_CREAT))
        return super().open(path, flags)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.is_dead:
            return len(data)
        number, self.writes = self.writes, self.writes + 1
        if number == self.dies_at:
            super().write(fd, data[: int(len(data) * self._faults.between(0, 1))])
            self._die()
            return len(data)
        if self.is_full and len(data) > 1 and self._faults.strikes("full", "a short write", 0.3):
            return super().write(fd, data[: len(data) // 2])
        self._take_room(True)
        return super().write(fd, data)

    def truncate(self, fd: int, size: int) -> None:
        if not self.is_dead:
            super().truncate(fd, size)

    def sync(self, fd: int) -> None:
        if not self.is_dead:
            self._take_room(self._faults.strikes("full", "a sync", 0.1))

    def replace(self, source: Path, target: Path) -> None:
        if not self.is_dead:
            super().replace(source, target)

    def make_folder(self, path: Path) -> None:
        if not self.is_dead:
            self._take_room(True)
            super().make_folder(path)

    def off_loop(self, work: Work, done: Done) -> None:
        """Sync a log, which can stall."""
        stalls = not self.is_dead and self._faults.strikes("stall", "a sync")
        seconds = self._faults.between(*STALLED) if stalls else QUICK
        asyncio.get_running_loop().call_later(seconds, lambda: done(outcome(work)))

    def _take_room(self, takes: bool) -> None:
        if takes and self.is_full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
