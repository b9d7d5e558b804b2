"""The attachments of the wire, as clients send them."""

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote

import msgspec

from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.wire import Wire


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
    """Any of the wire's attachments: file, directory, selection, blob, extension_context, github_*."""

    type: str
    display_name: str | None = None
    path: str | None = None
    line_range: LineRange | None = None
    file_path: str | None = None
    text: str | None = None
    selection: Span | None = None
    mime_type: str | None = None
    data: str | None = None
    omitted_reason: str | None = None
    number: int | None = None
    title: str | None = None
    reference_type: str | None = None
    state: str | None = None
    url: str | None = None
    name: str | None = None
    message: str | None = None
    extension_id: str | None = None
    payload: Any = None


_NEEDED = {
    "file": ("path",),
    "directory": ("path",),
    "github_reference": ("number", "title", "url"),
}
"""Without these there would be nothing to tell the model."""

_FILE_URL = "file://"
_HERE = ("", "localhost")


def parse(attachments: Sequence[Any]) -> list[Attachment]:
    """Read what a client attached. Raises InvalidParams that names the attachment and its field."""
    return [_parse(number, attachment) for number, attachment in enumerate(attachments)]


def _parse(number: int, attachment: Any) -> Attachment:
    try:
        item = wire.convert(attachment, Attachment)
    except InvalidParams as error:
        raise InvalidParams(f"attachments[{number}]: {error}") from error
    if fault := next(_faults(item), None):
        raise InvalidParams(f"attachments[{number}].{fault}")
    if item.path is None:
        return item
    try:
        return msgspec.structs.replace(item, path=_local(item.path))
    except ValueError as error:
        raise InvalidParams(f"attachments[{number}].path: {error}") from error


def _faults(item: Attachment) -> Iterator[str]:
    """What can't be meant, each by its field."""
    for field in _NEEDED.get(item.type, ()):
        if not getattr(item, field):
            yield f"{field}: a {item.type} needs one"
    if (lines := item.line_range) is not None:
        if lines.start < 1:
            yield f"lineRange.start: must be at least 1, the first line, and is {lines.start}"
        if lines.end < lines.start:
            yield f"lineRange.end: must not be before lineRange.start, and is {lines.end}"
    if (span := item.selection) is not None:
        for field, place in (("start", span.start), ("end", span.end)):
            if min(place.line, place.character) < 0:
                yield f"selection.{field}: line and character must be at least 0"
        if (span.end.line, span.end.character) < (span.start.line, span.start.character):
            yield "selection.end: must not be before selection.start"


def _local(given: str) -> str:
    """A path, which may be given as the URL of a local file. Raises ValueError that says what it must be."""
    if given[: len(_FILE_URL)].lower() != _FILE_URL:
        return given
    host, slash, path = given[len(_FILE_URL) :].partition("/")
    if host.lower() not in _HERE or not slash:
        raise ValueError(f"a file URL must name a file of this machine, as in file:///a/b, and has {host!r}")
    try:
        return unquote(slash + path, errors="strict")
    except UnicodeDecodeError:
        raise ValueError("the percent escapes of a file URL must be UTF-8") from None
