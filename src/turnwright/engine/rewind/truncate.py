"""Cutting a log back: what follows is gone, what stays is a valid log."""

from typing import TYPE_CHECKING

from turnwright.engine.questions.pending import repair
from turnwright.engine.rewind.first_message import given_up
from turnwright.errors import InvalidParams, StoreError
from turnwright.protocol.events.session import SnapshotRewind

if TYPE_CHECKING:
    from turnwright.engine.session import Session


def is_at_work(s: "Session") -> bool:
    """Whether something goes on that what is cut off may belong to: a run, or a summary being written."""
    return s.is_busy or s.compaction.is_running


def truncate(s: "Session", event_id: str) -> int:
    """Remove an event and all after it; how many. Raises InvalidParams when busy, StoreError."""
    if is_at_work(s):
        raise InvalidParams("sessionId: the session is busy: abort the run first, or wait for it")
    with s.journal.writing():
        events = s.journal.events()
        index = next((i for i, event in enumerate(events) if event.id == event_id), None)
        if index is None:
            raise StoreError(f"Event {event_id} not found")
        if not index:
            raise InvalidParams("eventId: nothing is before that event; delete the session instead")
        kept, gone = events[:index], events[index:]
        s.journal.rewrite(kept, then=given_up(kept, gone))
        repair(s)
    s.emit(SnapshotRewind(event_id, len(gone)))
    return len(gone)
