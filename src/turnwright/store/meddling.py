"""What a program that knows nothing of locks has done to a log's file while it was in use."""

import os
from pathlib import Path
from typing import Literal

Meddling = Literal["removed", "replaced", "longer", "shorter"]


class Place:
    """The name of a log, and the file that it stands for."""

    def __init__(self, path: Path, fd: int) -> None:
        self._path = str(path)
        status = os.fstat(fd)
        self._file = status.st_dev, status.st_ino

    def look(self, size: int) -> Meddling | None:
        """Compare the file under the name with ours, and its size with the one that we know.

        It is asked before each event, and costs one system call. Raises OSError.
        """
        try:
            status = os.stat(self._path)  # noqa: PTH116  a Path costs more than that
        except (FileNotFoundError, NotADirectoryError):
            return "removed"
        if (status.st_dev, status.st_ino) != self._file:
            return "replaced"
        if status.st_size == size:
            return None
        return "longer" if status.st_size > size else "shorter"
