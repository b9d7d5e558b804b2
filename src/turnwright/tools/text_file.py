"""Text files: a numbered excerpt that never holds the whole file, and a replacement in one step."""

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

import msgspec

LONGEST_LINE = 8 * 1024
"""Characters of a line that are shown; longer ones are generated code or data."""


class Excerpt(msgspec.Struct, frozen=True):
    """Lines of a file. `complete` is false when the limit cut them; `seen` is the last line's number read."""

    lines: list[str]
    complete: bool
    seen: int


def read_excerpt(path: Path, first: int, last: int | None, limit: int) -> Excerpt:
    """Read the lines `first` to `last` (None: the end), at most about `limit` bytes. Raises OSError.

    Bytes that aren't UTF-8 become U+FFFD; a byte order mark and carriage returns are left out.
    """
    lines: list[str] = []
    number = size = 0
    with path.open(encoding="utf-8-sig", errors="replace", newline="\n") as file:
        for number, line in enumerate(_lines(file), 1):
            if last is not None and number > last:
                break
            if number < first:
                continue
            size += len(line.encode()) + 1
            if size > limit and lines:
                return Excerpt(lines, complete=False, seen=number)
            lines.append(line)
    return Excerpt(lines, complete=True, seen=number)


def _lines(file: TextIO) -> Iterator[str]:
    """Each line without its end; a newline at the end of the file opens one more, empty line."""
    more = True
    while more:
        line = file.readline(LONGEST_LINE)
        more, cut = line.endswith("\n"), len(line) == LONGEST_LINE
        rest = line
        while not more and len(rest) == LONGEST_LINE:
            rest = file.readline(LONGEST_LINE)
            more = rest.endswith("\n")
        if cut and not line.endswith("\n"):
            line += " [the rest of this line is left out]"
        yield line.removesuffix("\n").removesuffix("\r")


def open_regular(path: Path | str) -> BinaryIO:
    """Open a file that has an end, no pipe or device. Raises OSError; its text says when it is special."""
    # Not waiting, as a named pipe would for a writer.
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise OSError(None, "it is not a regular file")


def read_bytes(path: Path, limit: int) -> bytes:
    """Read a regular file. Raises OSError; its text says so when the file is special or over `limit`."""
    with open_regular(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(None, f"it is larger than {limit // 1024 // 1024} MB")
    return data


def create(path: Path, data: bytes) -> None:
    """Write a new file, with the folders above it. Raises FileExistsError, or another OSError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(error.errno, "the folder's path leads to a file") from error
    path.touch(exist_ok=False)  # takes the name; whoever comes second fails
    try:
        replace(path, data)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def replace(path: Path, data: bytes) -> None:
    """Give an existing file new content: readers see all of the old or all of the new. Raises OSError."""
    if not os.access(path, os.W_OK):
        raise PermissionError(None, "it is read-only")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".turnwright-")
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, stat.S_IMODE(path.stat().st_mode))
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
