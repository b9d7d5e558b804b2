"""What the model reads of a message's attachments, beside the pictures."""

import base64
import binascii
from pathlib import Path
from typing import Any

import anyio.to_thread

from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.wire import Wire
from turnwright.tools.text_file import open_regular

LARGEST_COUNTED = 16 * 1024 * 1024
LARGEST_TEXT = 64 * 1024


class LineRange(Wire):
    """Lines of a file, counted from 1."""

    start: int
    end: int


class Position(Wire):
    """A place in a text; line and character count from 0."""

    line: int
    character: int = 0


class Span(Wire):
    """From one place to another."""

    start: Position
    end: Position


class Attachment(Wire):
    """Any of the wire's attachments: file, directory, selection, blob, github_reference."""

    type: str
    display_name: str | None = None
    path: str | None = None
    line_range: LineRange | None = None
    file_path: str | None = None
    text: str | None = None
    selection: Span | None = None
    mime_type: str | None = None
    data: str | None = None
    number: int | None = None
    title: str | None = None
    reference_type: str | None = None
    state: str | None = None
    url: str | None = None


async def with_attachments(text: str, attachments: list[Any]) -> str:
    """A message's text with what it attaches: selections before it, files and references after."""
    if not attachments:
        return text
    return await anyio.to_thread.run_sync(_describe, text, attachments)


def _describe(text: str, attachments: list[Any]) -> str:
    selections: list[str] = []
    files: list[str] = []
    references: list[str] = []
    blobs: list[str] = []
    for item in map(_parse, attachments):
        match item.type:
            case "selection":
                selections.append(_selection(item))
            case "file" | "directory" if item.path:
                files.append(f"* {item.path} ({_extent(item)})")
            case "github_reference":
                references.append(_reference(item))
            case "blob":
                blobs.append(_blob(item))
            case _:
                pass
    parts = [*selections, text]
    if files:
        parts.append("<tagged_files>\n" + "\n".join(files) + "\n</tagged_files>")
    if references:
        parts.append("<github_references>\n" + "\n".join(references) + "\n</github_references>")
    return "\n\n\n\n".join([*parts, *filter(None, blobs)])


def _parse(attachment: Any) -> Attachment:
    try:
        return wire.convert(attachment, Attachment)
    except InvalidParams as error:
        raise InvalidParams(f"attachments: {error}") from error


def _selection(item: Attachment) -> str:
    where = item.display_name or item.file_path or "unknown"
    if item.selection is not None:
        first, last = item.selection.start.line + 1, item.selection.end.line + 1
        where += f" (line {first})" if first == last else f" (lines {first}-{last})"
    return (
        "<ide_selection>\nThe user has the following text selected in their IDE. This may or may not be "
        f"related to their request.\nFile: {where}\n```\n{item.text or ''}\n```\n</ide_selection>"
    )


def _extent(item: Attachment) -> str:
    path = Path(item.path or "")
    try:
        if path.is_dir():
            return f"{sum(1 for _ in path.iterdir())} items"
        if path.stat().st_size > LARGEST_COUNTED:
            return f"{path.stat().st_size} bytes"
        with open_regular(path) as file:
            data = file.read()
    except OSError as error:
        return f"can't be read: {error.strerror}"
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    if item.line_range is None:
        return f"{lines} lines"
    first, last = item.line_range.start, item.line_range.end
    return f"line {first} of {lines} lines" if first == last else f"lines {first}-{last} of {lines} lines"


def _reference(item: Attachment) -> str:
    facts = "".join(f" [{fact}]" for fact in (item.reference_type, item.state) if fact)
    return f"#{item.number} - {item.title}{facts} ({item.url})"


def _blob(item: Attachment) -> str:
    """A text is shown; a picture goes to the model as a picture; of the rest the model learns the name."""
    name, kind = item.display_name or "unnamed", item.mime_type or "application/octet-stream"
    if kind.startswith("image/"):
        return ""
    if kind.startswith("text/") or kind == "application/json":
        try:
            data = base64.b64decode(item.data or "", validate=True)
        except (binascii.Error, ValueError):
            return f"The attachment {name} is not valid base64."
        shown = data[:LARGEST_TEXT].decode("utf-8", "replace")
        more = "\n[cut]" if len(data) > LARGEST_TEXT else ""
        return f'<attachment name="{name}">\n{shown}{more}\n</attachment>'
    return f"The attachment {name} ({kind}) can't be shown to this model."
