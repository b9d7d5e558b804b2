"""The attachments of the wire, as clients send them."""

from collections.abc import Sequence
from typing import Any

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


def parse(attachments: Sequence[Any]) -> list[Attachment]:
    """Read what a client attached. Raises InvalidParams that names the attachment and its field."""
    return [_parse(number, attachment) for number, attachment in enumerate(attachments)]


def _parse(number: int, attachment: Any) -> Attachment:
    try:
        item = wire.convert(attachment, Attachment)
    except InvalidParams as error:
        raise InvalidParams(f"attachments[{number}]: {error}") from error
    for field in _NEEDED.get(item.type, ()):
        if not getattr(item, field):
            raise InvalidParams(f"attachments[{number}].{field}: a {item.type} needs one")
    return item
