"""A live session: send, abort, messages, mode, name, log."""

from typing import TYPE_CHECKING, Any, Literal

import anyio.lowlevel
import msgspec

from turnwright.engine.answer_form import check_schema
from turnwright.engine.inbox import Prompt
from turnwright.engine.lifecycle.suspend import suspend as put_to_rest
from turnwright.engine.prompts.attachment_shapes import parse
from turnwright.engine.session import Session
from turnwright.errors import InvalidParams, RequestFailed, SessionNotFound
from turnwright.protocol import wire
from turnwright.protocol.events.session import Info, Mode, Renamed, TitleChanged, Warned
from turnwright.server.methods.base import Methods, SessionParams

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table


class SendParams(SessionParams):
    """A message to a session; the final answer of its run must fit `response_schema`, a JSON Schema."""

    prompt: str
    attachments: list[Any] = msgspec.field(default_factory=list[Any])
    mode: Literal["enqueue", "immediate"] = "enqueue"
    agent_mode: str | None = None
    request_headers: dict[str, str] | None = None
    source: str | None = None
    response_schema: dict[str, Any] | None = None


@methods.runtime("session.send", SendParams, inline=True)
async def send(connection: "Connection", params: SendParams) -> dict[str, str]:
    """Take a message and answer at once with its id."""
    try:
        session = connection.runtime.find(params.session_id)
    except SessionNotFound:
        raise SessionNotFound(f"Session not found for sessionId: {params.session_id}") from None
    parse(params.attachments)  # a wrong one is refused now, and not when its turn has come
    if params.response_schema is not None:
        check_schema("responseSchema", params.response_schema)
    message_id = wire.new_id()
    mode = params.agent_mode
    prompt = Prompt(
        message_id=message_id,
        text=params.prompt,
        attachments=params.attachments,
        agent_mode=mode if mode in ("interactive", "plan", "autopilot") else None,
        headers=params.request_headers,
        response_schema=params.response_schema,
        source=params.source,
    )
    session.send(prompt, immediate=params.mode == "immediate")
    return {"messageId": message_id}


class AbortParams(SessionParams):
    """Why the run is stopped."""

    reason: str = "user_initiated"


@methods.session("session.abort", AbortParams, inline=True)  # no task of its own: it is to be quick
async def abort(session: Session, params: AbortParams) -> dict[str, bool]:
    """Stop the run in hand, that of a message that was sent right before it too."""
    if session.is_busy and session.run_scope is None:
        await anyio.lowlevel.checkpoint()  # the run is about to begin
    session.abort(params.reason)
    return {"success": True}


@methods.session("session.suspend", SessionParams)
async def suspend(session: Session, params: SessionParams) -> None:
    """Stop what runs and begin nothing that is queued, until something is sent again."""
    await put_to_rest(session)


@methods.runtime("session.getMessages", SessionParams)
async def messages(connection: "Connection", params: SessionParams) -> dict[str, Any]:
    """The persisted events of a session, oldest first, once those that wait for the disk are published."""
    await connection.runtime.find(params.session_id).journal.published()
    return {"events": [msgspec.Raw(event.encoded) for event in connection.runtime.events(params.session_id)]}


class ModeParams(SessionParams):
    """A mode."""

    mode: Mode


@methods.session("session.mode.set", ModeParams)
async def set_mode(session: Session, params: ModeParams) -> dict[str, Any]:
    """Change the mode, from the next model call on; the model stays."""
    session.set_mode(params.mode)
    return {"modelChanged": False, "status": "applied"}


@methods.session("session.mode.get", SessionParams)
async def get_mode(session: Session, params: SessionParams) -> Mode:
    """The mode."""
    return session.journal.state.mode


class NameParams(SessionParams):
    """A name."""

    name: str


@methods.session("session.name.set", NameParams)
async def set_name(session: Session, params: NameParams) -> None:
    """Name the session."""
    name = params.name.strip()
    if not name:
        raise RequestFailed(
            -32603, "Request session.name.set failed with message: Session name cannot be empty"
        )
    session.emit(Renamed(name))
    session.emit(TitleChanged(name))


@methods.session("session.name.get", SessionParams)
async def get_name(session: Session, params: SessionParams) -> dict[str, Any]:
    """The session's name, if it has one."""
    state = session.journal.state
    return {"name": state.name or state.title}


class AutoNameParams(SessionParams):
    """A name that nobody chose."""

    summary: str


@methods.session("session.name.setAuto", AutoNameParams)
async def set_auto_name(session: Session, params: AutoNameParams) -> dict[str, bool]:
    """Name the session, unless a person did."""
    name = params.summary.strip()
    applied = bool(name) and session.journal.state.name is None
    if applied:
        session.emit(TitleChanged(name), ephemeral=False)
    return {"applied": applied}


class LogParams(SessionParams):
    """A line for people."""

    message: str
    level: Literal["info", "warning", "error"] = "info"
    ephemeral: bool = False
    type: str = "notification"
    url: str | None = None


@methods.session("session.log", LogParams)
async def log(session: Session, params: LogParams) -> dict[str, str]:
    """Log a line in the session's timeline."""
    if not params.message:
        raise InvalidParams("message: must not be empty")
    if params.level == "info":
        event = session.emit(Info(params.type, params.message), ephemeral=params.ephemeral)
    elif params.level == "warning":
        event = session.emit(Warned(params.type, params.message), ephemeral=params.ephemeral)
    else:
        from turnwright.protocol.events.session import SessionError

        event = session.emit(SessionError(params.type, params.message), ephemeral=params.ephemeral)
    return {"eventId": event.id}
