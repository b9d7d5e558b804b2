"""The tools that write files: `create` and `edit`."""

import os
import re
import threading
from typing import Annotated

import anyio.to_thread
import msgspec
from msgspec import Meta

from turnwright.protocol.messages import ToolDefinition
from turnwright.protocol.permissions import Write
from turnwright.protocol.wire import clean, convert
from turnwright.tools import diff, text_file
from turnwright.tools.base import Call, FileChange, FileEdit, Preserve, ToolResult, failure
from turnwright.tools.paths import PATH_SCHEMA, Location, locate

TRACKED = frozenset({"create", "edit"})
"""The tools whose changes of files can be taken back: they tell `Call.preserve` of each."""

EDIT_LIMIT = 32 * 1024 * 1024
"""Bytes of the largest file that is edited, as its content is held in memory."""


class CreateArguments(msgspec.Struct, frozen=True):
    """What a model passes to `create`."""

    path: str
    file_text: str = ""


class Create:
    """Writes a new file; an existing one is left alone."""

    definition = ToolDefinition(
        name="create",
        description="Creates a file, and the folders above it. Fails if it exists: use edit to change it.",
        parameters={
            "type": "object",
            "properties": {
                "path": PATH_SCHEMA,
                "file_text": {"type": "string", "description": "The content of the file."},
            },
            "required": ["path", "file_text"],
        },
    )
    read_only = False
    terminal = False

    def permission(self, call: Call) -> Write:
        """Ask to write the file, its whole content shown."""
        arguments = convert(call.arguments, CreateArguments)
        path, content = str(locate(call.cwd, arguments.path).real), clean(arguments.file_text)
        return Write(
            intention="Create file",
            file_name=path,
            diff=diff.created(path, content).text,
            can_offer_session_approval=True,
            new_file_contents=content,
            tool_call_id=call.id,
        )

    async def run(self, call: Call) -> ToolResult:
        """Write it, in a thread."""
        arguments = convert(call.arguments, CreateArguments)
        location = locate(call.cwd, arguments.path)
        return await anyio.to_thread.run_sync(_create, location, clean(arguments.file_text), call.preserve)


def _create(location: Location, content: str, preserve: Preserve) -> ToolResult:
    if location.escapes:
        return failure(location.refusal)
    exists = f"Path {location.shown} already exists. Use edit to change an existing file."
    data, change = content.encode(), diff.created(str(location.real), content)
    try:
        if os.path.lexists(location.real):
            return failure(exists)
        preserve(FileChange(location.real, None, data, change.added, change.removed))
        text_file.create(location.real, data)
    except FileExistsError:
        return failure(exists)
    except OSError as error:
        return failure(location.explain("create", error))
    return ToolResult(
        f"Created file {location.shown} with {len(content)} characters",
        detail=change.text,
        edits=(FileEdit(str(location.real), "create", change.added, change.removed),),
    )


class EditArguments(msgspec.Struct, frozen=True):
    """What a model passes to `edit`."""

    path: str
    old_str: Annotated[str, Meta(min_length=1)]
    new_str: str = ""


class Edit:
    """Replaces the one occurrence of a text in a file."""

    definition = ToolDefinition(
        name="edit",
        description="Replaces a text that occurs exactly once in a file.",
        parameters={
            "type": "object",
            "properties": {
                "path": PATH_SCHEMA,
                "old_str": {
                    "type": "string",
                    "description": "The text to replace, as it stands in the file, with enough around it to "
                    "occur only once.",
                },
                "new_str": {"type": "string", "description": "The text to put in its place."},
            },
            "required": ["path", "old_str", "new_str"],
        },
    )
    read_only = False
    terminal = False

    def permission(self, call: Call) -> Write:
        """Ask to change the file; the diff is empty if the edit is going to fail."""
        arguments = convert(call.arguments, EditArguments)
        location = locate(call.cwd, arguments.path)
        path = str(location.real)
        try:
            before, after = _edited(location, arguments)
        except _CannotEdit:
            before = after = None
        return Write(
            intention="Edit file",
            file_name=path,
            diff="" if before is None or after is None else diff.updated(path, before, after).text,
            can_offer_session_approval=True,
            new_file_contents=None if after is None else clean(after),
            tool_call_id=call.id,
        )

    async def run(self, call: Call) -> ToolResult:
        """Read the file again and change it, in a thread."""
        arguments = convert(call.arguments, EditArguments)
        location = locate(call.cwd, arguments.path)
        return await anyio.to_thread.run_sync(_edit, location, arguments, call.preserve)


_editing = threading.Lock()
"""Held from reading to writing, as calls of one reply may change the same file side by side."""


class _CannotEdit(Exception):
    """The text is for the model."""


def _edit(location: Location, arguments: EditArguments, preserve: Preserve) -> ToolResult:
    try:
        with _editing:
            before, after = _edited(location, arguments)
            change = diff.updated(str(location.real), before, after)
            old, new = (text.encode(errors="surrogateescape") for text in (before, after))
            preserve(FileChange(location.real, old, new, change.added, change.removed))
            text_file.replace(location.real, new)
    except _CannotEdit as error:
        return failure(str(error))
    except OSError as error:
        return failure(location.explain("write", error))
    return ToolResult(
        f"File {location.shown} updated with changes.",
        detail=change.text,
        edits=(FileEdit(str(location.real), "update", change.added, change.removed),),
    )


def _edited(location: Location, arguments: EditArguments) -> tuple[str, str]:
    """The file's text before and after; bytes that aren't UTF-8 are kept as lone surrogates."""
    before = _text(location)
    old, new = clean(arguments.old_str), clean(arguments.new_str)
    only_crlf = "\r\n" in before and before.count("\r\n") == before.count("\n")
    if only_crlf or old not in before:  # models write plain newlines whatever the file has
        old, new = (re.sub("\r?\n", "\r\n", text) for text in (old, new))
    start = before.find(old)
    if start == -1:
        raise _CannotEdit(
            f"old_str was not found in {location.shown}. It must be the same to the character, spaces and "
            "line breaks included; view the file to see what it holds now."
        )
    if before.find(old, start + 1) != -1:
        raise _CannotEdit(
            f"old_str occurs more than once in {location.shown}. Give more of the text around it, so that "
            "it occurs only once."
        )
    if old == new:
        raise _CannotEdit("old_str and new_str are the same, so there is nothing to change.")
    return before, before[:start] + new + before[start + len(old) :]


def _text(location: Location) -> str:
    if location.escapes:
        raise _CannotEdit(location.refusal)
    try:
        data = text_file.read_bytes(location.real, EDIT_LIMIT)
    except FileNotFoundError:
        raise _CannotEdit(location.missing) from None
    except OSError as error:
        raise _CannotEdit(location.explain("read", error)) from error
    if b"\0" in data:
        raise _CannotEdit(f"{location.shown} is a binary file, which can't be edited as text.")
    return data.decode(errors="surrogateescape")
