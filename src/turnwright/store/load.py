"""Folding a whole log, however big."""

import gc
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from turnwright.errors import StoreError
from turnwright.store.base import EventLog
from turnwright.store.beginnings import beginnings
from turnwright.store.checksums import Altered
from turnwright.store.folding import Folding
from turnwright.store.history import History
from turnwright.store.mend import Damage, mend
from turnwright.store.salvage import events_of
from turnwright.store.state import State
from turnwright.store.whole import fold_whole

DECODED_WHOLE = 8 * 1024 * 1024
"""Bytes up to which every line is decoded: of a longer log, what summaries stand for is passed over."""

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


def load(log: EventLog, *, decoded_whole: int = DECODED_WHOLE) -> Loaded:
    """Fold a log that is held, and mend it when it is damaged. Raises StoreError.

    Up to how many bytes each line is decoded makes no difference but in time and memory, as long as the log
    is what was written: what is lost or damaged before a record of the state goes unseen.
    """
    if not log.size:
        return Loaded(State(), History(), None, log.verify())
    fold = _fold_whole if log.size <= decoded_whole else _fold_long
    with _uncollected():
        return _load(log, fold)


@contextmanager
def _uncollected() -> Generator[None]:
    """No search for garbage meanwhile: nothing of a log is in a circle, and nearly all of it stays."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _load(log: EventLog, fold: Callable[[EventLog], "_Folded | None"]) -> Loaded:
    found = fold(log)
    if found is not None and log.is_ended:
        return Loaded(found.state, found.history, None, log.verify(found.start))
    altered = log.verify()
    damage = mend(log)
    if found is None:
        found = fold(log)
    if found is None:
        raise StoreError("the session's log is damaged anew while it is read")
    log.verify()
    return Loaded(found.state, found.history, damage, altered)


def load_state(pieces: Iterable[Sequence[bytes]]) -> State:
    """The state that a log's lines, with their newlines, give; what is damaged is passed over."""
    folding = Folding()
    for lines in pieces:
        for damaged in folding.take(lines):
            for event in events_of([damaged.removesuffix(b"\n")]):
                folding.add(event)
    folding.close()
    return folding.state


class _Folded(NamedTuple):
    """The folds of a log, and from which byte on it has to be what was written."""

    state: State
    history: History
    start: int


def _fold_whole(log: EventLog) -> _Folded | None:
    """Fold a log; None when something in it is damaged."""
    found = fold_whole(log)
    return found and _Folded(*found, 0)


def _fold_long(log: EventLog) -> _Folded | None:
    """The same, with as little reading and decoding as there can be."""
    for begun in beginnings(log):
        if found := _folded(log, begun.folding, begun.offset):
            return found
    folding = Folding()
    found = _folded(log, folding, log.size)
    return found if folding.history.adds_up else _fold_whole(log)


def _folded(log: EventLog, folding: Folding, first: int) -> _Folded | None:
    """Fold the rest of a log; None when it is damaged, or doesn't tell all.

    Besides what the history is read from, it has to be what was written from the byte `first` on.
    """
    if any(True for lines in log.pieces(folding.offset) for _ in folding.take(lines)):
        return None
    folding.close()
    start = folding.history
    history = start.read(log) if folding.is_whole and start.adds_up and start.is_there else None
    if history is None:
        return None
    return _Folded(folding.state, history, min(start.offset, first) if log.size > VERIFIED_WHOLE else 0)
