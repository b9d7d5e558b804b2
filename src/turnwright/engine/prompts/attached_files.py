"""Attached files and directories: what is said of them, and the pictures and documents that are shown."""

from pathlib import Path

from turnwright.engine import pictures
from turnwright.engine.prompts.attachment_shapes import Attachment, LineRange
from turnwright.protocol import media
from turnwright.providers.media_limits import LARGEST_DOCUMENT
from turnwright.tools.text_file import open_regular

LARGEST_COUNTED = 16 * 1024 * 1024
"""Bytes of a text whose lines are counted."""

_START = 8 * 1024


def extent(item: Attachment, path: Path) -> str:
    """How much there is, or why it can't be read: what a directory holds, a file's lines, bytes of others.

    A file that is attached as a directory is said to be that, and the other way round. The words are those
    that models of this protocol know, and recordings of it hold: also one line is `1 lines`.
    """
    try:
        is_directory = path.is_dir()
        told = _held(path) if is_directory else _content(item, path)
    except OSError as error:
        return f"can't be read: {error.strerror}"
    except ValueError:  # a NUL, or half of a surrogate pair
        return "can't be read: that can't be the name of a file"
    if is_directory == (item.type == "directory"):
        return told
    return f"a directory, not a file: {told}" if is_directory else f"a file, not a directory: {told}"


def _held(directory: Path) -> str:
    return f"{sum(1 for _ in directory.iterdir())} items"


def _content(item: Attachment, path: Path) -> str:
    size = path.stat().st_size
    with open_regular(path) as file:
        start = file.read(_START)
        if kind := media.media_type(start):
            return f"{kind}, {size} bytes{', too large to be shown' * (size > _most(kind))}"
        if b"\0" in start:
            return f"binary, {size} bytes"
        if size > LARGEST_COUNTED:
            return f"{size} bytes"
        data = start + file.read()
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return _lines(item.line_range, lines)


def _lines(wanted: LineRange | None, lines: int) -> str:
    """Which of a file's lines are meant, as far as it has them."""
    whole = f"{lines} lines"
    if wanted is None:
        return whole
    first, last = wanted.start, min(wanted.end, lines)
    if first > lines:
        return f"{whole}: there is no line {first}"
    return f"line {first} of {whole}" if first == last else f"lines {first}-{last} of {whole}"


def shown(path: Path) -> bytes | None:
    """The content of a picture or a document of a size that can be sent; None of any other file."""
    try:
        with open_regular(path) as file:
            kind = media.media_type(file.read(_START))
            if kind is None:
                return None
            file.seek(0)
            data = file.read(_most(kind) + 1)
    except (OSError, ValueError):
        return None  # its extent says so
    return data if len(data) <= _most(kind) else None


def _most(kind: str) -> int:
    return LARGEST_DOCUMENT if kind == media.PDF else pictures.LARGEST
