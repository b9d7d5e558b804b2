"""What a session is and where it works: a snapshot, whether it is at work, its working directory."""

from pathlib import Path
from typing import Any

import msgspec

from turnwright.engine.lifecycle import summary
from turnwright.engine.lifecycle.workspace import describe
from turnwright.engine.session import Session
from turnwright.protocol.events.session import Context, ContextChanged
from turnwright.protocol.options import OptionChanges
from turnwright.server.methods.base import Methods, SessionParams

methods = Methods()
METHODS = methods.table

WORKSPACE_FIELDS = (
    "id",
    "cwd",
    "git_root",
    "repository",
    "host_type",
    "branch",
    "name",
    "user_named",
    "created_at",
    "updated_at",
)


@methods.session("session.metadata.snapshot", SessionParams)
async def snapshot(session: Session, params: SessionParams) -> dict[str, Any]:
    """What changes slowly of a session; fields without a value are left out, but for `sessionLimits`."""
    state = session.journal.state
    entry = summary.metadata(session.id, state)
    workspace = describe(session.id, state)
    found: dict[str, Any] = {
        "sessionId": session.id,
        "startTime": entry.start_time,
        "modifiedTime": entry.modified_time,
        "isRemote": entry.is_remote,
        "alreadyInUse": False,
        "workspacePath": str(session.folder),
        "workingDirectory": str(session.cwd),
        "currentMode": session.mode,
        "selectedModel": state.model or session.model or None,
        "summary": entry.summary,
        "clientName": session.options.client_name or entry.client_name,
        "workspace": {name: workspace[name] for name in WORKSPACE_FIELDS if name in workspace},
    }
    known = {name: value for name, value in found.items() if value is not None}
    return {**known, "sessionLimits": state.limits}


@methods.session("session.metadata.isProcessing", SessionParams)
async def is_processing(session: Session, params: SessionParams) -> dict[str, bool]:
    """Whether a run is in hand or about to begin."""
    return {"processing": session.is_busy}


@methods.session("session.metadata.activity", SessionParams)
async def activity(session: Session, params: SessionParams) -> dict[str, bool]:
    """Whether there is work, and whether an abort would find something to stop."""
    return {"hasActiveWork": session.is_busy, "abortable": session.run_scope is not None}


class DirectoryParams(SessionParams):
    """An absolute path of a folder that exists."""

    working_directory: str


@methods.session("session.metadata.setWorkingDirectory", DirectoryParams)
async def set_working_directory(session: Session, params: DirectoryParams) -> dict[str, str]:
    """Work elsewhere from the next tool call on. Refused where there is no such folder."""
    session.update(OptionChanges(working_directory=params.working_directory))
    return {"workingDirectory": str(session.cwd)}


class ContextParams(SessionParams):
    """A working directory and its checkout, as the client sees them."""

    context: Context


@methods.session("session.metadata.recordContextChange", ContextParams)
async def record_context_change(session: Session, params: ContextParams) -> dict[str, Any]:
    """Log what the client knows of the session's checkout; of another directory it is passed over."""
    if Path(params.context.cwd).resolve() == session.cwd:
        session.emit(ContextChanged(**msgspec.structs.asdict(params.context)))
    return {}
