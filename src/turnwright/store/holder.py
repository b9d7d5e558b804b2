"""Who holds a log: a process, on a host, since it was started; pids alone are given out again, and twice."""

import os
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from turnwright.errors import InvalidParams
from turnwright.protocol.wire import Wire, decode, encode

CLOCK_ERROR = 2.0
"""Seconds by which a process's start, reckoned on the clock on the wall, may be off."""

Fate = Literal["lives", "gone", "elsewhere", "unknown"]
"""`elsewhere` is a process of this machine that has pids of its own, as containers do; of one on another
machine its fate is unknown."""


class Holder(Wire):
    """A process. `boot` names the run of its machine; `started` is in clock ticks since then."""

    pid: int
    host: str
    boot: str | None = None
    started: int | None = None

    def __str__(self) -> str:
        return (
            f"pid {self.pid}" if self.host == os.uname().nodename else f"pid {self.pid} on host {self.host}"
        )

    @property
    def fate(self) -> Fate:
        """What has become of the process, as far as it can be known here."""
        boot = _boot()
        if self.host != os.uname().nodename:
            return "elsewhere" if boot is not None and self.boot == boot else "unknown"
        started = start_of(self.pid)
        if _differ(self.boot, boot) or _differ(self.started, started) or not runs(self.pid):
            return "gone"
        return "lives"


def _differ(told: str | int | None, found: str | int | None) -> bool:
    """Whether both are known, and not the same."""
    return told is not None and found is not None and told != found


def this_process() -> Holder:
    """The process that asks."""
    return _known(os.getpid())


@lru_cache(maxsize=1)
def _known(pid: int) -> Holder:
    return Holder(pid, os.uname().nodename, _boot(), start_of(pid))


def write(path: Path, holder: Holder) -> None:
    """Raises OSError."""
    path.write_bytes(encode(holder))


def read(path: Path) -> Holder | None:
    """The holder that a file tells of; None when there is none, or it is only being written."""
    with suppress(OSError, InvalidParams):
        return decode(path.read_bytes(), Holder)
    return None


def runs(pid: int) -> bool:
    """Whether a process of this host has a pid."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def start_of(pid: int) -> int | None:
    """When a process was started, in clock ticks since the machine was; None if the system doesn't tell."""
    try:
        stat = Path("/proc", str(pid), "stat").read_bytes()
    except OSError:
        return None
    return int(stat.rpartition(b") ")[2].split()[19])


def is_younger(pid: int, since: float) -> bool:
    """Whether a process was started after a time, in seconds since 1970; False if nobody tells."""
    import time

    started = start_of(pid)
    try:
        uptime = float(Path("/proc/uptime").read_text("ascii").split()[0])
    except OSError:
        return False
    if started is None:
        return False
    return time.time() - uptime + started / os.sysconf("SC_CLK_TCK") > since + CLOCK_ERROR


@cache
def _boot() -> str | None:
    """What names this run of the machine; None where the system doesn't tell."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return None
