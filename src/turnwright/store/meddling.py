"""What a program that knows nothing of locks has done to a log's file while it was in use."""

import os
from pathlib import Path
from typing import Literal

Meddling = Literal["removed", "replaced", "longer", "shorter"]


class Place:
    """The name of a log, and the file that it stands for, which is open."""

    def __init__(self, path: Path, fd: int) -> None:
        self._path = path
        self._name = str(path)
        self._fd = fd
        self._ours: os.stat_result | None = None
        self._is_left = False

    def look(self, size: int) -> Meddling | None:
        """Compare the file with its name and with the size that is known. Raises OSError.

        It is asked before each event, and costs one system call, the cheapest: that another file has the name
        while ours has one too shows at the next `check`.
        """
        status = os.fstat(self._fd)
        if status.st_nlink == 0 or self._is_left:
            return "replaced" if self._path.exists() else "removed"
        if status.st_size == size:
            return None
        return "longer" if status.st_size > size else "shorter"

    def check(self) -> None:
        """See whether the name still stands for the file, if that can be seen. Any thread may ask for it."""
        try:
            self._ours = self._ours or os.fstat(self._fd)
            self._is_left = not os.path.samestat(self._ours, os.stat(self._name))  # noqa: PTH116  a Path costs more than that
        except (FileNotFoundError, NotADirectoryError):
            self._is_left = True
        except OSError:
            pass
