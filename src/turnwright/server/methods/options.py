"""Changes to a live session's options, and the instructions that hold for it."""

from typing import TYPE_CHECKING, Any

from turnwright.engine.session import Session
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
