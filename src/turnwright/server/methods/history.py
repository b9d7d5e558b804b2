"""Changes to what was said: truncate."""

from typing import Any

from turnwright.engine.rewind import truncate as cut
from turnwright.engine.session import Session
from turnwright.server.methods.base import Methods, SessionParams

methods = Methods()
METHODS = methods.table


class TruncateParams(SessionParams):
    """The first event to go."""

    event_id: str


@methods.session("session.history.truncate", TruncateParams)
async def truncate(session: Session, params: TruncateParams) -> dict[str, Any]:
    """Cut the log off just before an event."""
    return {"eventsRemoved": cut(session, params.event_id), "checkpointCleanupFailed": False}
