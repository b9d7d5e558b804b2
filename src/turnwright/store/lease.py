"""One writer: who holds a session's log, told to other processes by a lock and by a mark."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from turnwright.errors import SessionInUse
from turnwright.store import holder
from turnwright.store.holder import Fate, Holder
from turnwright.store.mounts import is_of_one_machine
from turnwright.store.own_marks import OwnMarks, mark_of, telling_of


class Lease:
    """The right to write one session's log.

    Among Turnwright's processes the lock on the log's descriptor decides, which ends with its holder. The
    mark, `inuse.<pid>.lock` with the pid as text, is for runtimes that know no such lock: theirs is honoured
    while that process lives, and ours is written for them. Beside ours, `holder.<pid>.json` tells of the host
    and of the process's start.
    """

    def __init__(self, folder: Path, marks: OwnMarks | None = None) -> None:
        self._folder = folder
        self._marks = marks or OwnMarks()
        self._is_told = False

    def take(self, fd: int) -> None:
        """Lock the log. Raises SessionInUse, and then nothing was written."""
        is_locked = False
        self._is_told = False
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_locked = True
        except BlockingIOError:
            is_ours = (self._folder / mark_of(os.getpid())).exists()
            ours = f"pid {os.getpid()}" if is_ours else "another process"
            raise self._in_use(next(self._holders(is_locked=False), ours)) from None
        except OSError:  # a file system without locks: the marks have to do
            pass
        for other in self._holders(is_locked=is_locked):
            with suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)
            raise self._in_use(other)
        if not is_locked:
            self.tell()

    def tell(self) -> None:
        """Leave the mark, for those who wouldn't notice the lock. It is taken away with the lease."""
        if not self._is_told:
            self._is_told = True
            with suppress(OSError):  # nobody is told, and the lock holds all the same
                self._marks.leave(self._folder)

    def extend(self, fd: int) -> None:
        """Lock a file that nobody else knows yet, and that is about to become the log."""
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def give_back(self, fd: int) -> None:
        """Let others write."""
        if self._is_told:
            self._marks.remove(self._folder)
            self._is_told = False
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)

    def _in_use(self, by: str) -> SessionInUse:
        return SessionInUse(f"session {self._folder.name} is in use by {by}")

    def _holders(self, *, is_locked: bool) -> Iterator[str]:
        """The others that have left a mark and may live; what the dead have left is removed.

        All that run on one machine, in containers too, share its locks: who has the lock knows of those whose
        pids mean nothing here that they are gone. On a file system that machines share that isn't known.
        """
        for mark in _marks(self._folder):
            told = mark.holder
            if mark.pid == os.getpid() and told in (None, holder.this_process()):
                continue
            match mark.fate if told is None else told.fate:
                case "lives":
                    yield str(told or f"pid {mark.pid}")
                case "elsewhere" if not is_locked:
                    yield str(told)
                case "unknown" if not (is_locked and is_of_one_machine(self._folder)):
                    yield f"{told}; if that process has ended, remove {mark.path}"
                case _:
                    mark.remove()


def writer_of(folder: Path) -> str | None:
    """The process that has left its mark in a session's folder and may live; for those who only read."""
    with suppress(OSError):
        for mark in _marks(folder):
            told = mark.holder
            if (mark.fate if told is None else told.fate) != "gone":
                return str(told or f"pid {mark.pid}")
    return None


class _Mark(NamedTuple):
    """A mark and the process that it names."""

    path: Path
    pid: int

    @property
    def holder(self) -> Holder | None:
        """What is told of the process beside the mark; other runtimes tell nothing.

        What was told long before the mark was left is of an earlier process with that pid.
        """
        found = holder.read(self._beside)
        if found is None or found.pid != self.pid:
            return None
        try:
            age = self.path.stat().st_mtime - self._beside.stat().st_mtime
        except OSError:
            return None
        return found if age <= holder.CLOCK_ERROR else None

    @property
    def fate(self) -> Fate:
        """What has become of a process of which the mark alone tells: one that is younger is another."""
        try:
            since = self.path.stat().st_mtime
        except OSError:  # the mark was removed while we looked
            return "gone"
        return "lives" if holder.runs(self.pid) and not holder.is_younger(self.pid, since) else "gone"

    def remove(self) -> None:
        for path in (self.path, self._beside):
            with suppress(OSError):
                path.unlink()

    @property
    def _beside(self) -> Path:
        return self.path.with_name(telling_of(self.pid))


def _marks(folder: Path) -> Iterator[_Mark]:
    try:
        names = os.listdir(folder)  # noqa: PTH208  a glob of paths takes three times as long
    except FileNotFoundError:  # another program removed it under a live session
        return
    for name in names:
        if name.startswith("inuse.") and name.endswith(".lock"):
            pid = _pid_of(folder / name)
            if pid is not None:
                yield _Mark(folder / name, pid)


def _pid_of(mark: Path) -> int | None:
    """The process that a mark names, in its text or, while that is being written, in its name."""
    with suppress(OSError, ValueError):
        return int(mark.read_text("ascii"))
    with suppress(ValueError):
        return int(mark.name.split(".")[1])
    return None
