"""Sessions come and go: create, resume, list, delete, destroy."""

from typing import TYPE_CHECKING, Any

import msgspec

from turnwright.engine.agents.agent import check_agents
from turnwright.engine.models.provider_registry import Registry
from turnwright.engine.session import Session
from turnwright.errors import SessionNotFound
from turnwright.protocol.options import SessionOptions
from turnwright.protocol.wire import Wire
from turnwright.server.methods.base import Empty, Methods, SessionParams
from turnwright.server.methods.provider import check_named

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table


class SessionOpened(Wire):
    """The answer to create and resume."""

    session_id: str
    workspace_path: str
    capabilities: dict[str, Any]


def _opened(session: Session) -> SessionOpened:
    return SessionOpened(
        session.id,
        str(session.folder),
        {"ui": {"elicitation": session.clients.take_elicitation, "mcpApps": False}, "extensions": False},
    )


def _check(options: SessionOptions) -> None:
    """Refuse endpoints and agents that can't be, before there is a session.

    Raises ConfigError or InvalidParams naming the field.
    """
    check_agents(options.custom_agents or [])
    if options.provider is not None:
        from turnwright.providers.open import check_provider

        check_provider(options.provider)
    if options.providers or options.models:
        check_named(options.providers or [])
        Registry(options.providers, options.models)


@methods.runtime("session.create", SessionOptions, inline=True)
async def create(connection: "Connection", params: SessionOptions) -> SessionOpened:
    """Start a session."""
    _check(params)
    return _opened(await connection.runtime.create(params, connection))


@methods.runtime("session.resume", SessionOptions, inline=True)
async def resume(connection: "Connection", params: SessionOptions) -> SessionOpened:
    """Take up a session, live or logged; the same connection may do so again and again."""
    _check(params)
    return _opened(await connection.runtime.resume(params.session_id or "", params, connection))


@methods.runtime("session.destroy", SessionParams)
async def destroy(connection: "Connection", params: SessionParams) -> dict[str, Any]:
    """Unload a session; its log stays. Doing so twice is fine."""
    if params.session_id in connection.runtime.sessions:
        await connection.runtime.unload(params.session_id)
    return {"success": True}


@methods.runtime("session.detach", SessionParams)
async def detach(connection: "Connection", params: SessionParams) -> dict[str, Any]:
    """Send this client no more events of a session."""
    session = connection.runtime.sessions.get(params.session_id)
    if session is not None:
        session.clients.detach(connection)
    return {"success": True}


class ShutdownParams(SessionParams):
    """Why a session is shut down."""

    type: str = "routine"
    reason: str | None = None


@methods.runtime("session.shutdown", ShutdownParams)
async def shutdown(connection: "Connection", params: ShutdownParams) -> None:
    """Unload a session, saying why."""
    await connection.runtime.unload(params.session_id, kind=params.type, reason=params.reason)


@methods.runtime("session.delete", SessionParams)
async def delete(connection: "Connection", params: SessionParams) -> dict[str, Any]:
    """Remove a session with its log."""
    try:
        await connection.runtime.delete(params.session_id)
    except SessionNotFound as error:
        return {"success": False, "error": f"Error: {error}"}
    return {"success": True}


class ListFilter(Wire):
    """Only sessions of a place."""

    cwd: str | None = None
    git_root: str | None = None
    repository: str | None = None
    branch: str | None = None


class ListParams(Wire):
    """What to list."""

    filter: ListFilter | None = None


@methods.runtime("session.list", ListParams)
async def listing(connection: "Connection", params: ListParams) -> dict[str, Any]:
    """All sessions that were ever prompted, the one used last first."""
    found = connection.runtime.list()
    if params.filter is not None:
        wanted = {k: v for k, v in msgspec.structs.asdict(params.filter).items() if v is not None}
        found = [
            entry
            for entry in found
            if all(getattr(entry.context, name, None) == value for name, value in wanted.items())
        ]
    return {"sessions": found}


@methods.runtime("session.getMetadata", SessionParams)
async def metadata(connection: "Connection", params: SessionParams) -> dict[str, Any]:
    """One session's entry in the list; none if there is no such session."""
    try:
        return {"session": connection.runtime.metadata(params.session_id)}
    except SessionNotFound:
        return {}


@methods.runtime("session.getLastId", Empty)
async def last_id(connection: "Connection", params: Empty) -> dict[str, Any]:
    """The session that was used last."""
    found = connection.runtime.last()
    return {"sessionId": found} if found else {}


@methods.runtime("session.getForeground", Empty)
async def foreground(connection: "Connection", params: Empty) -> dict[str, Any]:
    """The session in the foreground of a terminal: there is no terminal here."""
    return {}


@methods.runtime("session.setForeground", SessionParams)
async def set_foreground(connection: "Connection", params: SessionParams) -> dict[str, Any]:
    """There is no terminal whose foreground could be set."""
    return {"success": False, "error": "Not running in TUI+server mode: there is no foreground session"}
