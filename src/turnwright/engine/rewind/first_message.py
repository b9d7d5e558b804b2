"""The first message of a conversation that was begun anew, when the log is cut before it."""

from collections.abc import Iterable

from turnwright.protocol.envelope import Event
from turnwright.protocol.events.compaction import ContextCleared
from turnwright.protocol.events.conversation import UserMessage
from turnwright.store.history import History


def given_up(kept: Iterable[Event], gone: Iterable[Event]) -> ContextCleared | None:
    """What has to stand after the events that are kept, so that the first message doesn't come back.

    The clearing that names it stays in the log, and would put it before the next message. None when it isn't
    among those that go: it stays, or it was never logged and is still to come.
    """
    history = History()
    for event in kept:
        history.apply(event)
    if history.seed is None:
        return None
    said = {event.data.message_id for event in gone if isinstance(event.data, UserMessage)}
    return ContextCleared(0) if history.seed.message_id in said else None
