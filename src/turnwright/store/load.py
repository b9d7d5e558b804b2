"""Folding a whole log, however big."""

from collections.abc import Iterable
from typing import NamedTuple

from turnwright.errors import StoreError
from turnwright.store.base import EventLog
from turnwright.store.checksums import Altered
from turnwright.store.folding import Folding
from turnwright.store.history import History
from turnwright.store.mend import Damage, mend
from turnwright.store.salvage import events_of
from turnwright.store.state import State

VERIFIED_WHOLE = 32 * 1024 * 1024
"""Bytes up to which a log is compared with its sums as a whole, beyond them from its last summary on: that is
all that the model sees, and reading the rest twice would take longer than resuming."""


class Loaded(NamedTuple):
    """What a log says: the session's state, and the history for the model.

    `damage` is what was mended, `altered` where the log is another than what was written.
    """

    state: State
    history: History
    damage: Damage | None
    altered: Altered | None


def load(log: EventLog) -> Loaded:
    """Fold a log that is held, and mend it when it is damaged. Raises StoreError."""
    found = _fold(log)
    if found is not None and log.is_ended:
        return Loaded(found.state, found.history, None, log.verify(found.start))
    altered = log.verify()
    damage = mend(log)
    if found is None:
        found = _fold(log)
    if found is None:
        raise StoreError("the session's log is damaged anew while it is read")
    log.verify()
    return Loaded(found.state, found.history, damage, altered)


def load_state(lines: Iterable[bytes]) -> State:
    """The state that a log's lines give; what is damaged is passed over."""
    folding = Folding()
    for line in lines:
        if not folding.take(line):
            for event in events_of([line]):
                folding.add(event)
    folding.close()
    return folding.state


class _Folded(NamedTuple):
    """The folds of a log, and from which byte on it has to be what was written."""

    state: State
    history: History
    start: int


def _fold(log: EventLog) -> _Folded | None:
    """Fold a log; None when something in it is damaged."""
    folding = Folding()
    if not all(map(folding.take, log.read())):
        return None
    folding.close()
    history = folding.history.read(log) if folding.is_whole else None
    if history is None:
        return None
    return _Folded(folding.state, history, folding.history.offset if log.size > VERIFIED_WHOLE else 0)
