"""One writer: who holds a session's log, told to other processes by a lock and by a mark."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from turnwright.errors import SessionInUse

CLOCK_ERROR = 2.0
"""Seconds by which a process's start, counted in ticks since boot, may be off."""


class Lease:
    """The right to write one session's log.

    Among Turnwright's processes the lock on the log's descriptor decides, which ends with its holder. The
    mark, `inuse.<pid>.lock` with the pid as text, is for runtimes that know no such lock: theirs is honoured
    while that process lives, and ours is written for them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mark = folder / f"inuse.{os.getpid()}.lock"

    def take(self, fd: int) -> None:
        """Lock the log. Raises SessionInUse, and then nothing was written."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            own = os.getpid() if self._mark.exists() else None
            raise self._in_use(next(self._holders(), own)) from None
        except OSError:  # a file system without locks: the marks have to do
            pass
        for pid in self._holders():
            fcntl.flock(fd, fcntl.LOCK_UN)
            raise self._in_use(pid)
        with suppress(OSError):  # nobody is told, and the lock holds all the same
            self._mark.write_text(str(os.getpid()), "ascii")

    def extend(self, fd: int) -> None:
        """Lock a file that nobody else knows yet, and that is about to become the log."""
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def give_back(self, fd: int) -> None:
        """Let others write."""
        with suppress(OSError):
            self._mark.unlink()
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)

    def _in_use(self, pid: int | None) -> SessionInUse:
        by = "another process" if pid is None else f"pid {pid}"
        return SessionInUse(f"session {self._folder.name} is in use by {by}")

    def _holders(self) -> Iterator[int]:
        """The other living processes that have left a mark; what the dead have left is removed."""
        for mark in self._folder.glob("inuse.*.lock"):
            pid = _pid_of(mark)
            if pid is None or pid == os.getpid():
                continue
            if _lives(pid, since=mark):
                yield pid
            else:
                with suppress(OSError):
                    mark.unlink()


def _pid_of(mark: Path) -> int | None:
    """The process that a mark names, in its text or, while that is being written, in its name."""
    with suppress(OSError, ValueError):
        return int(mark.read_text("ascii"))
    with suppress(ValueError):
        return int(mark.name.split(".")[1])
    return None


def _lives(pid: int, *, since: Path) -> bool:
    """Whether a process runs and is no younger than its mark: pids are given out again."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        pass
    except (ProcessLookupError, OverflowError):
        return False
    started = _start_of(pid)
    try:
        return started is None or started <= since.stat().st_mtime + CLOCK_ERROR
    except OSError:  # the mark was removed while we looked
        return False


def _start_of(pid: int) -> float | None:
    """When a process was started, in seconds since 1970; None where the system doesn't tell."""
    try:
        stat = Path("/proc", str(pid), "stat").read_text()
        uptime = Path("/proc/uptime").read_text()
    except OSError:
        return None
    ticks = int(stat.rpartition(") ")[2].split()[19])
    return time.time() - float(uptime.split()[0]) + ticks / os.sysconf("SC_CLK_TCK")
