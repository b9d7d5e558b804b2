"""What happened in a run, in order, for people and to be compared."""

import hashlib

from tests.simulation.clock import VirtualLoop


class Trace:
    """Lines with the simulated time, who did something, and what."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self.lines: list[str] = []

    def add(self, who: str, what: str) -> None:
        """Note something that happens now."""
        self.lines.append(f"{self._loop.now:9.3f} {who:10} {what}")

    def digest(self, *logs: bytes) -> str:
        """A short mark of the trace and of these logs."""
        found = hashlib.sha256("\n".join(self.lines).encode())
        for log in logs:
            found.update(log)
        return found.hexdigest()[:16]
