"""A file's descriptor that a thread may still use when its owner is done with it."""

import os
import threading


class Descriptor:
    """Closed by its owner, and then by the system once nobody uses it: before, another file could get its
    number, and be synced in its stead.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._users = 1
        self._counting = threading.Lock()

    def lend(self) -> None:
        """Count one more user, who says `close` too. Only while it is open."""
        with self._counting:
            assert self._users, "a descriptor that is closed is lent"
            self._users += 1

    def close(self) -> None:
        """One of those who use it is done."""
        with self._counting:
            self._users -= 1
            if not self._users:
                os.close(self.fd)
