"""What a process costs, by Linux's own accounts of it."""

import time
from pathlib import Path


class Footprint:
    """Memory and CPU time of one process; its children are not counted."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        # The kernel's number of the clock that counts a process's CPU time, its threads included.
        self._clock = (~pid << 3) | 2

    @property
    def cpu_seconds(self) -> float:
        """User and system time so far."""
        return time.clock_gettime(self._clock)

    @property
    def resident_bytes(self) -> int:
        """Memory at this moment."""
        return self._status("VmRSS")

    @property
    def peak_bytes(self) -> int:
        """The most memory that it ever had."""
        return self._status("VmHWM")

    @property
    def children(self) -> list[int]:
        """The pids of its children."""
        return [
            int(pid)
            for file in Path(f"/proc/{self.pid}/task").glob("*/children")
            for pid in file.read_text().split()
        ]

    def _status(self, name: str) -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
        raise LookupError(name)
