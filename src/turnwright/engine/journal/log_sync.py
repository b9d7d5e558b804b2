"""The sync of a journal's log, which may be another log from one time to the next."""

from collections.abc import Callable

from turnwright.store.base import EventLog
from turnwright.store.file_sync import FileSync


class LogSync:
    """Work that blocks until the disk has the log, or that is begun to be carried out by somebody else."""

    def __init__(self, log: Callable[[], EventLog]) -> None:
        self._log = log

    def __call__(self) -> None:
        """Sync. Blocks. Raises StoreError."""
        self._log().sync()

    def begin(self) -> FileSync | None:
        """What is left to do when it is the sync of one file; else None, and nothing has begun."""
        return self._log().begin_sync()
