"""Where the folding of a long log may begin: behind what is recorded of the state."""

from collections.abc import Iterator
from typing import NamedTuple

from turnwright.protocol.envelope import Event
from turnwright.protocol.events.compaction import CompactionComplete
from turnwright.protocol.events.session import SessionStart
from turnwright.store.base import EventLog
from turnwright.store.folding import Folding
from turnwright.store.heads import head
from turnwright.store.history import summary_message
from turnwright.store.history_start import HistoryStart
from turnwright.store.salvage import event_of
from turnwright.store.state_record import recorded_in

_RECORD = head("session.state_record")
_SUMMARY = head("session.compaction_complete")
_MOST_TRIED = 2
"""What a summary left of the conversation is in place after the next one, mostly."""


class Beginning(NamedTuple):
    """A folding that is to go on, and the byte of the log with which begins what it was made of."""

    folding: Folding
    offset: int


def beginnings(log: EventLog) -> Iterator[Beginning]:
    """A folding from the last record on, then one from the record before it."""
    first = _event_at(log, 0)
    place: int | None = log.size
    for _ in range(_MOST_TRIED):
        place = log.last(_RECORD, place)
        if place is None or first is None or not isinstance(first.data, SessionStart):
            return
        begun = _begun(log, place, first.data)
        if begun is not None:
            yield begun


def _begun(log: EventLog, place: int, start: SessionStart) -> Beginning | None:
    event = _event_at(log, place)
    recorded = event and recorded_in(event.data)
    if event is None or recorded is None:
        return None
    before = log.last(_SUMMARY, place)
    summary = None if before is None else _summary_at(log, before, event)
    state = recorded.state()
    state.start = start
    state.apply(event)
    history = HistoryStart.at(
        place + len(event.encoded) + 1,
        system=recorded.system,
        summary=summary and summary_message(summary),
        messages=recorded.messages - (summary is not None),
    )
    return Beginning(Folding(state, history), place if before is None or summary is None else before)


def _summary_at(log: EventLog, place: int, record: Event) -> CompactionComplete | None:
    """The summary of the conversation there, if it is the one that the record follows at once."""
    event = _event_at(log, place)
    if event is None or event.id != record.parent_id or event.agent_id is not None:
        return None
    return event.data if isinstance(event.data, CompactionComplete) and event.data.success else None


def _event_at(log: EventLog, place: int) -> Event | None:
    line = next(log.read(place), None)
    return None if line is None else event_of(line)
