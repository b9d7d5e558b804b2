"""Stores whose logs note what happens to them, or fail when a test says so."""

from pathlib import Path

from turnwright.errors import StoreError
from turnwright.store.memory import MemoryLog, MemoryStore


class FullDisk(MemoryLog):
    """A log that refuses the appends numbered `first` to `first + count - 1`, from 0."""

    def __init__(self, first: int, count: int) -> None:
        super().__init__()
        self.refused = range(first, first + count)
        self.appends = 0

    def append(self, line: bytes) -> None:
        self.appends += 1
        if self.appends - 1 in self.refused:
            raise StoreError("can't write to the session's log: No space left on device")
        super().append(line)


class OneLog(MemoryStore):
    """A store that holds one log, made by the test."""

    def __init__(self, root: Path, log: MemoryLog) -> None:
        super().__init__(root)
        self.log = log

    def create(self, session_id: str) -> MemoryLog:
        self.logs[session_id] = self.log
        return self.log
