"""What a message attaches: as it is logged, which is what models are shown, and what they read beside it."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread
import msgspec

from turnwright.engine import pictures
from turnwright.engine.prompts import attached_files, attached_texts
from turnwright.engine.prompts.attachment_shapes import Attachment, parse
from turnwright.errors import InvalidParams, TooLarge
from turnwright.protocol import media
from turnwright.providers.media_limits import LARGEST_DOCUMENT, PictureLimits

LARGEST_TEXT = 64 * 1024

_TEXTS = frozenset(["application/json", "application/xml", "application/yaml", "image/svg+xml"])


class Attached(msgspec.Struct, frozen=True):
    """Attachments: `logged` in the wire's shape, and what stands `before` and `after` the message's text."""

    logged: list[Any] = msgspec.field(default_factory=list[Any])
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def around(self, text: str) -> str:
        """The text as the model reads it."""
        return "\n\n\n\n".join([*self.before, text, *self.after])


async def attach(
    attachments: Sequence[Any], cwd: Path, limits: PictureLimits, *, vision: bool = True
) -> Attached:
    """Read what a message attaches: pictures are made to fit `limits`, what can't be shown is said to be so.

    Raises InvalidParams naming the field of an attachment that has another shape.
    """
    items = parse(attachments)
    return await anyio.to_thread.run_sync(_Reading(cwd, limits, vision).read, items, attachments)


class _Reading:
    """Takes attachments one after the other."""

    def __init__(self, cwd: Path, limits: PictureLimits, vision: bool) -> None:
        self._cwd = cwd
        self._limits = limits
        self._vision = vision
        self._selections: list[str] = []
        self._files: list[str] = []
        self._references: list[str] = []
        self._others: list[str] = []

    def read(self, items: Sequence[Attachment], given: Sequence[Any]) -> Attached:
        logged = [_without_nulls({**raw, **self._take(item)}) for item, raw in zip(items, given, strict=True)]
        after: list[str] = []
        if self._files:
            after.append("<tagged_files>\n" + "\n".join(self._files) + "\n</tagged_files>")
        if self._references:
            after.append("<github_references>\n" + "\n".join(self._references) + "\n</github_references>")
        return Attached(logged, tuple(self._selections), (*after, *self._others))

    def _take(self, item: Attachment) -> Mapping[str, Any]:
        """Note what the model reads of it; give what is logged differently from how it came."""
        match item.type:
            case "selection":
                self._selections.append(attached_texts.selection(item))
            case "file" | "directory":
                path = self._cwd / (item.path or "")
                self._files.append(
                    f"* {attached_texts.named(item.path or '')} ({attached_files.extent(item, path)})"
                )
                data = attached_files.shown(path) if item.type == "file" else None
                if data is not None:
                    return self._binary(attached_texts.named(item.display_name or path.name), data)
            case "blob":
                return self._blob(item)
            case "extension_context":
                self._others.append(attached_texts.extension_context(item))
            case kind if kind.startswith("github_"):
                self._references.append(attached_texts.reference(item))
            case kind:
                self._others.append(f"An attachment of type {kind} can't be shown.")
        return {}

    def _blob(self, item: Attachment) -> Mapping[str, Any]:
        name = attached_texts.named(item.display_name or "unnamed")
        kind = _bare(item.mime_type) or "application/octet-stream"
        given = item.data or ""
        coded = "".join(given.split())  # as `base64` and mail wrap it
        try:
            data = base64.b64decode(coded, validate=True)
        except (binascii.Error, ValueError):
            self._others.append(f"The attachment {name} is not valid base64.")
            return _omitted("asset_unavailable", 0)
        if kind.startswith("text/") or kind in _TEXTS:
            text = data[:LARGEST_TEXT].decode("utf-8", "replace")
            more = "\n[cut]" if len(data) > LARGEST_TEXT else ""
            self._others.append(f'<attachment name="{name}">\n{text}{more}\n</attachment>')
            return {}
        if kind.startswith("image/") or kind == media.PDF:
            return self._binary(
                name, data, claimed=kind, is_as_sent=given == coded and kind == item.mime_type
            )
        self._others.append(f"The attachment {name} ({kind}) can't be shown to this model.")
        return {}

    def _binary(
        self, name: str, data: bytes, *, claimed: str | None = None, is_as_sent: bool = False
    ) -> Mapping[str, Any]:
        """A picture or a document, as it is sent to models from now on."""
        try:
            kind, fitting = self._fitting(data, claimed)
        except (InvalidParams, TooLarge) as error:
            self._others.append(f"The attachment {name} can't be shown: {error}.")
            return _omitted("too_large" if isinstance(error, TooLarge) else "asset_unavailable", len(data))
        if kind != media.PDF and not self._vision:
            self._others.append(f"The attachment {name} is a picture, which this model can't see.")
        if is_as_sent and fitting is data and kind == claimed:
            return {}
        encoded = base64.b64encode(fitting).decode()
        return {"mimeType": kind, "byteLength": len(fitting), "data": encoded}

    def _fitting(self, data: bytes, claimed: str | None) -> tuple[str, bytes]:
        found = media.media_type(data[: media.HEAD])
        if media.PDF not in (found, claimed):
            fitting = pictures.fit(data, self._limits)
            return fitting.mime_type, fitting.data
        if found != media.PDF:
            raise InvalidParams("it is no PDF")
        if len(data) > LARGEST_DOCUMENT:
            raise TooLarge(f"it has {len(data)} bytes, and {LARGEST_DOCUMENT} are the most")
        return media.PDF, data


def _bare(media_type: str | None) -> str:
    """A media type without its parameters; letters are of one case."""
    return (media_type or "").partition(";")[0].strip().lower()


def _without_nulls(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _omitted(reason: str, length: int) -> Mapping[str, Any]:
    """How an attachment is logged without its data, in the wire's words."""
    return {"data": None, "omittedReason": reason, "byteLength": length}
