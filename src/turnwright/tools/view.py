"""The tool `view`."""

import base64
from typing import Annotated

import anyio.to_thread
import msgspec
from msgspec import Meta

from turnwright.errors import InvalidParams
from turnwright.protocol.counted import counted
from turnwright.protocol.media import media_type
from turnwright.protocol.messages import Image, ToolDefinition
from turnwright.protocol.permissions import Read
from turnwright.protocol.wire import clean, convert
from turnwright.tools import diff, text_file
from turnwright.tools.base import Call, ToolResult, failure
from turnwright.tools.paths import PATH_SCHEMA, Location, locate

VIEW_LIMIT = 64 * 1024
"""Bytes of text that one view shows: a long source file whole, and no more than an eighth of a context."""

DIRECTORY_LIMIT = 1000
"""Names that a view of a directory lists."""

IMAGE_LIMIT = 32 * 1024 * 1024
"""Bytes of the largest picture that is read; what is too large for the model is made smaller afterwards."""

LineNumber = Annotated[int, Meta(ge=1)]
LastLine = Annotated[int, Meta(ge=-1)]


class ViewArguments(msgspec.Struct, frozen=True):
    """What a model passes to `view`."""

    path: str
    view_range: tuple[LineNumber, LastLine] | None = None

    def lines(self) -> tuple[int, int | None]:
        """The first and the last line asked for; None is the end. Raises InvalidParams."""
        first, last = self.view_range or (1, -1)
        if last != -1 and last < first:
            raise InvalidParams(f"view_range: ends at line {last}, before it starts at line {first}")
        return first, None if last == -1 else last


class View:
    """Shows a text file with numbered lines, a picture, or the names in a directory."""

    definition = ToolDefinition(
        name="view",
        description="Shows a text file with its lines numbered, a picture, or the names in a directory.",
        parameters={
            "type": "object",
            "properties": {
                "path": PATH_SCHEMA,
                "view_range": {
                    "type": "array",
                    "items": {"type": "integer"},
                    "minItems": 2,
                    "maxItems": 2,
                    "description": "First and last line; -1 as the last is the end of the file.",
                },
            },
            "required": ["path"],
        },
    )
    read_only = True
    terminal = False

    def permission(self, call: Call) -> Read:
        """Ask to read the file that the path really leads to."""
        arguments = convert(call.arguments, ViewArguments)
        arguments.lines()
        path = str(locate(call.cwd, arguments.path).real)
        return Read(intention=f"Read file: {path}", path=path, tool_call_id=call.id)

    async def run(self, call: Call) -> ToolResult:
        """Read it, in a thread."""
        arguments = convert(call.arguments, ViewArguments)
        first, last = arguments.lines()
        location = locate(call.cwd, arguments.path)
        return await anyio.to_thread.run_sync(_view, location, first, last)


def _view(location: Location, first: int, last: int | None) -> ToolResult:
    if location.escapes:
        return failure(location.refusal)
    try:
        if location.real.is_dir():
            return ToolResult(_listing(location))
        if location.real.is_file():
            return _view_file(location, first, last)
    except OSError as error:
        return failure(location.explain("read", error))
    if location.real.exists():
        return failure(f"{location.shown} is not a regular file.")
    return failure(location.missing)


def _listing(location: Location) -> str:
    names = sorted(clean(entry.name) + "/" * entry.is_dir() for entry in location.real.iterdir())
    shown = names[:DIRECTORY_LIMIT]
    if len(names) > len(shown):
        shown.append(f"[... left out: {counted(len(names) - len(shown), 'more name')}; use glob ...]")
    return "\n".join(shown) or "The directory is empty."


def _view_file(location: Location, first: int, last: int | None) -> ToolResult:
    with location.real.open("rb") as file:
        start = file.read(8 * 1024)
    kind = media_type(start)
    if kind and kind.startswith("image/"):
        data = base64.b64encode(text_file.read_bytes(location.real, IMAGE_LIMIT)).decode()
        return ToolResult("Viewed image file successfully.", images=(Image(kind, data),))
    if kind or b"\0" in start:
        return failure(f"{location.shown} is a binary file, which can't be shown as text.")
    excerpt = text_file.read_excerpt(location.real, first, last, VIEW_LIMIT)
    if not excerpt.lines:
        return failure(
            f"view_range starts at line {first}, but {location.shown} ends at line {excerpt.seen}."
        )
    text = "\n".join(f"{number}. {line}" for number, line in enumerate(excerpt.lines, first))
    if not excerpt.complete:
        text += f"\n[... the file goes on; use view_range from line {excerpt.seen} to see more ...]"
    return ToolResult(text, detail=diff.unchanged(str(location.real), first, excerpt.lines))
