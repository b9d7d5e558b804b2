"""What a tool is: a definition, a permission question and a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from turnwright.protocol.events import Data
from turnwright.protocol.messages import Image, ToolDefinition
from turnwright.protocol.permissions import PermissionRequest

ResultType = Literal["success", "failure", "rejected", "denied", "timeout"]


class FileEdit(msgspec.Struct, frozen=True):
    """One file that a tool changed, with the lines that it added and removed."""

    path: str
    kind: Literal["create", "update"]
    lines_added: int
    lines_removed: int


class ToolResult(msgspec.Struct, frozen=True):
    """What a call gave: `text` is for the model, `detail` for people; `events` are logged after it.

    A `hidden` one goes to the model, but people aren't shown its detail.
    """

    text: str
    kind: ResultType = "success"
    detail: str | None = None
    error: str | None = None
    error_code: str | None = None
    images: tuple[Image, ...] = ()
    edits: tuple[FileEdit, ...] = ()
    telemetry: Mapping[str, Any] | None = None
    events: tuple[Data, ...] = ()
    modified_arguments: dict[str, Any] | None = None
    hidden: bool = False

    @property
    def ok(self) -> bool:
        return self.kind == "success"


def failure(message: str, *, kind: ResultType = "failure", code: str | None = None) -> ToolResult:
    """A result that tells the model, in `message`, why the call failed."""
    return ToolResult(text=message, kind=kind, error=message, error_code=code)


class Progress(Protocol):
    """Takes a running tool's output as it comes."""

    def __call__(self, partial: str, /) -> None: ...


class FileChange(msgspec.Struct, frozen=True):
    """What a tool is about to do to a file: `before` is None where there is none."""

    path: Path
    before: bytes | None
    after: bytes
    lines_added: int
    lines_removed: int


class Preserve(Protocol):
    """Keeps what a file is, in the thread that is about to change it. Raises StoreError: then it must not."""

    def __call__(self, change: FileChange, /) -> None: ...


def forget(change: FileChange) -> None:
    """Keep nothing."""


class Call(msgspec.Struct, frozen=True):
    """One call with everything that a tool may know of its surroundings.

    `cwd` is the session's working directory (resolved). `overflow` is a folder, made when needed, for
    files that hold output too large for the model. `progress` shows partial output. `env` is the
    environment for child processes. `secrets` must be masked in any file that a tool leaves in `overflow`.
    A tool that changes a file itself tells `preserve` right before. `processes` is a folder for notes of
    what runs.
    """

    id: str
    arguments: dict[str, Any]
    cwd: Path
    overflow: Path
    progress: Progress
    env: Mapping[str, str]
    secrets: tuple[str, ...] = ()
    preserve: Preserve = forget
    processes: Path | None = None


class Tool(Protocol):
    """A tool. `read_only` ones may run in plan mode; a `terminal` one that succeeds ends the run."""

    @property
    def definition(self) -> ToolDefinition: ...

    @property
    def read_only(self) -> bool: ...

    @property
    def terminal(self) -> bool: ...

    def permission(self, call: Call) -> PermissionRequest | None:
        """What must be allowed before `run`; None if nothing. Raises InvalidParams for bad arguments."""
        ...

    async def run(self, call: Call) -> ToolResult:
        """Do it. A failure is a ToolResult, not an exception; cancellation stops everything it started."""
        ...
