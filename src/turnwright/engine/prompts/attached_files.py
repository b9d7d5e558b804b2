"""Attached files and directories: what is said of them, and the pictures and documents that are shown."""

from pathlib import Path

from turnwright.engine import pictures
from turnwright.engine.prompts.attachment_shapes import Attachment
from turnwright.protocol import media
from turnwright.protocol.counted import counted
from turnwright.providers.media_limits import LARGEST_DOCUMENT
from turnwright.tools.text_file import open_regular

LARGEST_COUNTED = 16 * 1024 * 1024
"""Bytes of a text whose lines are counted."""

_START = 8 * 1024


def extent(item: Attachment, path: Path) -> str:
    """How much there is, or why it can't be read: what a directory holds, a file's lines, bytes of others."""
    try:
        if path.is_dir():
            return counted(sum(1 for _ in path.iterdir()), "item")
        size = path.stat().st_size
        with open_regular(path) as file:
            start = file.read(_START)
            if kind := media.media_type(start):
                return f"{kind}, {size} bytes{', too large to be shown' * (size > _most(kind))}"
            if b"\0" in start:
                return f"binary, {counted(size, 'byte')}"
            if size > LARGEST_COUNTED:
                return f"{size} bytes"
            data = start + file.read()
    except OSError as error:
        return f"can't be read: {error.strerror}"
    except ValueError:  # a NUL, or half of a surrogate pair
        return "can't be read: that can't be the name of a file"
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    whole = counted(lines, "line")
    if item.line_range is None:
        return whole
    first, last = item.line_range.start, item.line_range.end
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
