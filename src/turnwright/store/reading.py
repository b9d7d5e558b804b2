"""Reading a log's file: its lines, one by one or many at once, and the last one of a kind."""

import errno
import os
import stat
from collections.abc import Iterator
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import BinaryIO

NOT_REGULAR = "it is no regular file"
BLOCK = 1 << 16
"""Bytes that are read at once. Into a buffer of 128 KiB or more, which the C library places at the start of a
page, some processors copy them four times as slowly."""
PIECE = 1 << 18
"""Bytes that are decoded at once: what comes of more no longer fits into a processor's cache."""


def lines_in(fd: int, start: int = 0) -> Iterator[bytes]:
    """The lines of an open file from a byte on, without newlines."""
    with open(fd, "rb", buffering=BLOCK, closefd=False) as file:
        file.seek(start)
        yield from map(bytes.rstrip, file, repeat(b"\n"))


def pieces_in(fd: int, start: int = 0) -> Iterator[list[bytes]]:
    """The same, many lines at once, with their newlines."""
    with open(fd, "rb", buffering=BLOCK, closefd=False) as file:
        file.seek(start)
        yield from _pieces(file)


def blocks_in(fd: int) -> Iterator[bytes]:
    """The same from the start on, with many lines in one piece of bytes."""
    start, wanted = 0, PIECE
    while piece := os.pread(fd, wanted, start):
        end = piece.rfind(b"\n") + 1
        if not end and len(piece) == wanted:  # the line is longer
            wanted *= 2
            continue
        yield piece[: end or None]
        start += end or len(piece)
        wanted = PIECE


def last_in(fd: int, beginning: bytes, before: int) -> int | None:
    """The byte with which the last line begins that begins so, of those before a byte; not the first line."""
    end = before
    while end > 0:
        start = max(end - PIECE, 0)
        block = os.pread(fd, min(end + len(beginning), before) - start, start)
        place = block.rfind(b"\n" + beginning)
        if place >= 0:
            return start + place + 1
        end = start
    return None


def pieces_of(path: Path) -> Iterator[list[bytes]]:
    """A log that is only read, whoever writes it, many lines at once, with their newlines. Raises OSError."""
    with open_to_read(path) as file:
        yield from _pieces(file)


def open_to_read(path: Path) -> BinaryIO:
    """Open a log, or what is in its place, to be read alone. Raises OSError unless it is a regular file."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))  # a pipe isn't waited for
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, NOT_REGULAR)
    return os.fdopen(fd, "rb", buffering=BLOCK)


def _pieces(file: BinaryIO) -> Iterator[list[bytes]]:
    return iter(partial(file.readlines, PIECE), [])
