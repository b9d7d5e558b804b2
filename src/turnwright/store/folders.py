"""The names of a log and of the folders above it: a file can be on the disk, and not its name."""

import os
from pathlib import Path

from turnwright.store.disk import Disk

ABOVE = 2
"""Folders above that of all sessions that may have got an entry with the first log: the home, its parent."""


class Folders:
    """Brings names to the disk. Those above the sessions' own, which stay, once for all logs of a store."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._named: set[tuple[int, int]] = set()

    def sync(self, log: Path) -> None:
        """Return when a log would be found after a power loss. May block. Raises OSError."""
        session, all_sessions, *above = log.parents[: 2 + ABOVE]
        self._sync(session)
        self._sync(all_sessions)
        for folder, holder in zip((all_sessions, *above), above, strict=False):
            status = folder.stat()
            identity = status.st_dev, status.st_ino
            if identity not in self._named:
                self._sync(holder)
                self._named.add(identity)

    def _sync(self, folder: Path) -> None:
        fd = self._disk.open(folder, os.O_RDONLY)
        try:
            self._disk.sync(fd)
        finally:
            os.close(fd)
