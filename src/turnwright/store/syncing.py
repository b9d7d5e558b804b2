"""A sync that has begun: what has to reach the disk, and what holds once it has."""

import os
from collections.abc import Callable

from turnwright.store.descriptor import Descriptor
from turnwright.store.disk import Disk
from turnwright.store.folders import NOTHING_TO_SYNC, Names


class Sync:
    """Carries itself out when it is called, in any thread. Blocks. Raises StoreError when the disk refuses.

    In its place somebody else may sync all that `open` gives, and say `end`; both raise what a call does.
    Which `names` the disk lacks is asked as late as that: until then another sync may bring them there.
    """

    def __init__(
        self,
        disk: Disk,
        file: Descriptor | None,
        names: Callable[[], Names],
        ended: Callable[[Names, OSError | None], None],
    ) -> None:
        if file is not None:
            file.lend()
        self._disk = disk
        self._file = file
        self._find_names = names
        self._names = NOTHING_TO_SYNC
        self._opened: list[int] = []
        self._ended = ended

    @property
    def is_plain(self) -> bool:
        """Whether the system's own `fsync` is all that is meant."""
        return self._disk.syncs_plainly

    def open(self) -> list[int]:
        """Descriptors of all that is to be synced, which are closed with the end.

        Raises OSError, and then it has opened nothing, and may be asked again.
        """
        self._names = self._find_names()
        try:
            for folder in self._names.folders:
                self._opened.append(self._disk.open(folder, os.O_RDONLY))
        except OSError:
            self._close()
            raise
        return self._opened if self._file is None else [self._file.fd, *self._opened]

    def end(self, failure: OSError | None) -> None:
        """Say, once and in any thread, that the disk has it all, or why not."""
        self._close()
        if self._file is not None:
            self._file.close()
        self._ended(self._names, failure)

    def __call__(self) -> None:
        """Do it."""
        failure = None
        try:
            for fd in self.open():
                self._disk.sync(fd)
        except OSError as error:
            failure = error
        self.end(failure)

    def _close(self) -> None:
        while self._opened:
            os.close(self._opened.pop())
