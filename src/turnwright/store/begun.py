"""Whether a log tells of a session at all: one that was killed before its first event is none."""

from turnwright.errors import SessionNotFound
from turnwright.store.base import EventLog
from turnwright.store.salvage import events_of


def holds_an_event(log: EventLog) -> bool:
    """Whether there is an event in a log, on a damaged line too."""
    return next(events_of(log.read()), None) is not None


def check_begun(log: EventLog, session_id: str) -> None:
    """Raises SessionNotFound when there is no event in a log; its text says what is there, and what to do."""
    if not holds_an_event(log):
        what = f"none of its {log.size} bytes is of an event" if log.size else "it is empty"
        raise SessionNotFound(
            f"Session not found: {session_id}: there is a log of it, but {what}. "
            f"To remove it: turnwright sessions delete {session_id}"
        )
