"""Changes to a live session's options, and what its client wants to hear of."""

from typing import TYPE_CHECKING, Any

from turnwright.engine.session import Session
from turnwright.protocol import wire
from turnwright.protocol.options import OptionChanges
from turnwright.server.methods.base import Methods, SessionParams

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table


class UpdateParams(OptionChanges, kw_only=True):
    """Options to change in a session."""

    session_id: str


@methods.runtime("session.options.update", UpdateParams)
async def update(connection: "Connection", params: UpdateParams) -> dict[str, bool]:
    """Change options from the next model call on."""
    connection.runtime.find(params.session_id).update(params)
    return {"success": True}


@methods.session("session.instructions.getSources", SessionParams)
async def instruction_sources(session: Session, params: SessionParams) -> dict[str, Any]:
    """The instruction files that hold for the session."""
    return {"sources": await session.instructions()}


class InterestParams(SessionParams):
    """A type of event."""

    event_type: str


@methods.session("session.eventLog.registerInterest", InterestParams)
async def register_interest(session: Session, params: InterestParams) -> dict[str, str]:
    """Say that a client handles a type of event; the handle takes it back."""
    handle = f"interest-{wire.new_id()}"
    session.interests[handle] = params.event_type
    return {"handle": handle}


class ReleaseParams(SessionParams):
    """What `registerInterest` gave."""

    handle: str


@methods.session("session.eventLog.releaseInterest", ReleaseParams)
async def release_interest(session: Session, params: ReleaseParams) -> dict[str, bool]:
    """Take an interest back."""
    return {"success": session.interests.pop(params.handle, None) is not None}
