"""Folding a whole log, however big."""

from collections.abc import Iterable
from typing import NamedTuple

from turnwright.errors import StoreError
from turnwright.store.base import EventLog
from turnwright.store.folding import Folding
from turnwright.store.history import History
from turnwright.store.mend import Damage, mend
from turnwright.store.salvage import events_of
from turnwright.store.state import State


class Loaded(NamedTuple):
    """What a log says: the session's state, and the history for the model; `damage` is what was mended."""

    state: State
    history: History
    damage: Damage | None


def load(log: EventLog) -> Loaded:
    """Fold a log that is held, and mend it when it is damaged. Raises StoreError."""
    found = _fold(log)
    if found is not None and log.is_ended:
        return Loaded(*found, None)
    damage = mend(log)
    if found is None:
        found = _fold(log)
    if found is None:
        raise StoreError("the session's log is damaged anew while it is read")
    return Loaded(*found, damage)


def load_state(lines: Iterable[bytes]) -> State:
    """The state that a log's lines give; what is damaged is passed over."""
    folding = Folding()
    for line in lines:
        if not folding.take(line):
            for event in events_of([line]):
                folding.add(event)
    folding.close()
    return folding.state


def _fold(log: EventLog) -> tuple[State, History] | None:
    """Fold a log; None when something in it is damaged."""
    folding = Folding()
    if not all(map(folding.take, log.read())):
        return None
    folding.close()
    history = folding.history.read(log) if folding.is_whole else None
    return None if history is None else (folding.state, history)
