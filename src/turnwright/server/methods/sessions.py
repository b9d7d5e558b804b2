"""Sessions as a whole: fork."""

from typing import TYPE_CHECKING, Any

from turnwright.server.methods.base import Methods, SessionParams

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table


class ForkParams(SessionParams):
    """The session to copy; `to_event_id` is the first event that stays out."""

    to_event_id: str | None = None
    name: str | None = None


@methods.runtime("sessions.fork", ForkParams)
async def fork(connection: "Connection", params: ForkParams) -> dict[str, Any]:
    """Copy a session's log, or its beginning, into a new session, which can then be resumed."""
    entry = connection.runtime.fork(params.session_id, before=params.to_event_id, name=params.name)
    named = {"name": entry.name} if entry.name else {}
    return {"sessionId": entry.session_id, **named}
