"""Files that belong to a session."""

from pathlib import Path
from typing import Any

import anyio.to_thread

from turnwright.engine import checkpoints
from turnwright.engine.changes.workspace_diff import workspace_diff
from turnwright.engine.lifecycle.workspace import describe
from turnwright.engine.session import Session
from turnwright.errors import StoreError
from turnwright.protocol import wire
from turnwright.protocol.events.session import WorkspaceFileChanged
from turnwright.protocol.workspace import DiffMode, WorkspaceDiff
from turnwright.server.methods.base import Methods, SessionParams
from turnwright.tools.paths import inside

methods = Methods()
METHODS = methods.table


class PathParams(SessionParams):
    """A path relative to the session's `files` folder."""

    path: str


class CreateParams(PathParams):
    """A file to write."""

    content: str


def _locate(session: Session, path: str) -> Path:
    root = session.folder / "files"
    found = (root / path).resolve()
    if not inside(root.resolve(), found) or found == root.resolve():
        raise StoreError("Path must be within the workspace files directory")
    return found


@methods.session("session.workspaces.listFiles", SessionParams)
async def listing(session: Session, params: SessionParams) -> dict[str, Any]:
    """The files' paths, sorted."""
    root = session.folder / "files"
    found = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
    return {"files": found}


@methods.session("session.workspaces.readFile", PathParams)
async def read(session: Session, params: PathParams) -> dict[str, Any]:
    """A file's text."""
    path = _locate(session, params.path)
    try:
        return {"content": await anyio.to_thread.run_sync(path.read_text, "utf-8", "replace")}
    except OSError as error:
        raise StoreError(f"can't read {params.path}: {error.strerror}") from error


@methods.session("session.workspaces.createFile", CreateParams)
async def create(session: Session, params: CreateParams) -> None:
    """Write a file."""
    path = _locate(session, params.path)
    existed = path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    await anyio.to_thread.run_sync(path.write_text, params.content, "utf-8")
    session.emit(WorkspaceFileChanged(params.path, "update" if existed else "create"))


@methods.session("session.workspaces.getWorkspace", SessionParams)
async def workspace(session: Session, params: SessionParams) -> dict[str, Any]:
    """The session's folder and what it is called."""
    return {"workspace": describe(session.id, session.journal.state), "path": str(session.folder)}


@methods.session("session.workspaces.listCheckpoints", SessionParams)
async def list_checkpoints(session: Session, params: SessionParams) -> dict[str, Any]:
    """The summaries of the conversation that are kept as files, the first one first."""
    return {"checkpoints": await anyio.to_thread.run_sync(checkpoints.listed, session.folder)}


class CheckpointParams(SessionParams):
    """Which checkpoint."""

    number: int


@methods.session("session.workspaces.readCheckpoint", CheckpointParams)
async def read_checkpoint(session: Session, params: CheckpointParams) -> dict[str, Any]:
    """A checkpoint's text; null when there is none of that number."""
    return {"content": await anyio.to_thread.run_sync(checkpoints.read, session.folder, params.number)}


class DiffParams(SessionParams):
    """Compared with what."""

    mode: DiffMode
    ignore_whitespace: bool = False


@methods.session("session.workspaces.diff", DiffParams)
async def diff(session: Session, params: DiffParams) -> WorkspaceDiff:
    """What has changed in the working directory: by git, or by what the session kept track of."""
    return await workspace_diff(session, params.mode, ignore_whitespace=params.ignore_whitespace)


class PasteParams(SessionParams):
    """A text that is too large for a message."""

    content: str


@methods.session("session.workspaces.saveLargePaste", PasteParams)
async def save_paste(session: Session, params: PasteParams) -> dict[str, Any]:
    """Keep a text as a file of the session, for a message to name."""
    name = f"paste-{wire.new_id()}.txt"
    data, path = params.content.encode("utf-8", "replace"), session.folder / "files" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        await anyio.to_thread.run_sync(path.write_bytes, data)
    except OSError as error:
        raise StoreError(f"can't write {path}: {error.strerror}") from error
    session.emit(WorkspaceFileChanged(name, "create"))
    return {"saved": {"filename": name, "filePath": str(path), "sizeBytes": len(data)}}
