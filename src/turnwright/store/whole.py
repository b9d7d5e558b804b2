"""The folds of a log that isn't long: each line is decoded, once and many at a time."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from turnwright.errors import InvalidParams
from turnwright.protocol.envelope import Logged, parse_lines, payload
from turnwright.protocol.events import EVENTS
from turnwright.protocol.events.session import UsageRecord
from turnwright.protocol.wire import Wire, decoder_of
from turnwright.store.base import EventLog
from turnwright.store.history import SAID, History
from turnwright.store.salvage import event_of
from turnwright.store.state import OF_ALL, OF_MAIN, State
from turnwright.store.usage import Record


class _Usage(Wire):
    usage: Record


class _Steps(NamedTuple):
    """What events of a type do to the folds: those of every agent, and those of the main one."""

    decode: Callable[[msgspec.Raw], Any]
    of_all: Callable[[State, Any, str | None], None] | None
    of_main: Callable[[State, Any], None] | None
    said: Callable[[History, Any], None] | None


def fold_whole(log: EventLog) -> tuple[State, History] | None:
    """The state and the history that every event applied in order gives; None when a line is damaged."""
    state, history = State(), History()
    for block in log.blocks():
        try:
            _take(state, history, [event for event in parse_lines(block) if not event.ephemeral])
        except InvalidParams:
            for line in block.removesuffix(b"\n").split(b"\n"):
                event = event_of(line)
                if event is None:
                    return None
                state.apply(event)
                history.apply(event)
    return state, history


def _take(state: State, history: History, events: list[Logged]) -> None:
    for event in events:
        steps = _steps(event.type)
        if steps is None:
            continue
        decode, of_all, of_main, said = steps
        try:
            data = decode(event.data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            _take_odd(state, history, event)
            continue
        if of_all:
            of_all(state, data, event.agent_id)
        if event.agent_id is None:
            if of_main:
                of_main(state, data)
            if said:
                said(history, data)
    if events:
        state.events += len(events)
        state.last_id, state.modified = events[-1].id, events[-1].timestamp


def _take_odd(state: State, history: History, event: Logged) -> None:
    """Apply an event whose payload hasn't the usual form; it may be none that we know."""
    data = payload(event.type, event.data)
    state.take(data, event.agent_id)
    if event.agent_id is None:
        history.take(data)


@lru_cache(maxsize=256)
def _steps(type: str) -> _Steps | None:
    """None for what no fold asks about."""
    kind = EVENTS.get(type)
    if kind is UsageRecord:
        return _Steps(decoder_of(_Usage).decode, _add_usage, None, None)
    if kind in OF_ALL or kind in OF_MAIN or kind in SAID:
        return _Steps(decoder_of(kind).decode, OF_ALL.get(kind), OF_MAIN.get(kind), SAID.get(kind))
    return None


def _add_usage(state: State, data: _Usage, agent_id: str | None) -> None:
    state.usage.add(data.usage)
