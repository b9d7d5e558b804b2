"""Changes to a live session's options, and the instructions that hold for it."""

from typing import TYPE_CHECKING, Any

import msgspec

from turnwright.engine import session_limits
from turnwright.engine.session import Session
from turnwright.protocol.events.limits import SessionLimits
from turnwright.protocol.options import OptionChanges
from turnwright.server.methods.base import Methods, SessionParams

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table


class UpdateParams(OptionChanges, kw_only=True):
    """Options to change in a session."""

    session_id: str
    session_limits: SessionLimits | msgspec.UnsetType | None = msgspec.UNSET


@methods.runtime("session.options.update", UpdateParams)
async def update(connection: "Connection", params: UpdateParams) -> dict[str, bool]:
    """Change options from the next model call on."""
    session = connection.runtime.find(params.session_id)
    session.update(params)
    if params.session_limits is not msgspec.UNSET:
        session_limits.change(session, params.session_limits)
    return {"success": True}


@methods.session("session.instructions.getSources", SessionParams)
async def instruction_sources(session: Session, params: SessionParams) -> dict[str, Any]:
    """The instruction files that hold for the session."""
    return {"sources": session.instructions()}
