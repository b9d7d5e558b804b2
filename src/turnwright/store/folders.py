"""The names of a log and of the folders above it: a file can be on the disk, and not its name."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

ABOVE = 2
"""Folders above that of all sessions that may have got an entry with the first log: the home, its parent."""


class Names(NamedTuple):
    """Folders whose entries lead to a log; `root` is the device and inode of that of all sessions."""

    folders: Sequence[Path] = ()
    root: tuple[int, int] | None = None


NOTHING_TO_SYNC = Names()


class Folders:
    """Knows which folders to sync so that a log is found after a power loss.

    Those above the sessions' own, which stay, are synced once for all logs of a store.
    """

    def __init__(self) -> None:
        self._synced: set[tuple[int, int]] = set()

    def to_sync(self, log: Path) -> Names:
        """The folders that lead to a log and may not be on the disk."""
        session = log.parent
        root = session.parent
        identity = None
        with suppress(OSError):  # whoever opens it hears why
            status = os.stat(root)  # noqa: PTH116  for each session: a Path costs more than that
            identity = status.st_dev, status.st_ino
        above = () if identity in self._synced else root.parents[:ABOVE]
        return Names([session, root, *above], identity)

    def synced(self, names: Names) -> None:
        """Remember that the disk has them. Any thread may say it."""
        if names.root is not None:
            self._synced.add(names.root)
