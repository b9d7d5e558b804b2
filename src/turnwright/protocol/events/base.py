"""Payloads of events, and the table that maps an event's type to its payload."""

from collections.abc import Callable
from typing import ClassVar, TypeVar

from turnwright.protocol.wire import Wire


class Data(Wire):
    """Base of every event's payload."""

    event_type: ClassVar[str] = ""
    ephemeral: ClassVar[bool] = False


P = TypeVar("P", bound=type[Data])

EVENTS: dict[str, type[Data]] = {}
"""Every event type that Turnwright knows, in the order of definition."""


def event(name: str, *, ephemeral: bool = False) -> Callable[[P], P]:
    """Register a payload under its wire name; `ephemeral` ones are never logged unless emitted so."""

    def register(payload: P) -> P:
        payload.event_type = name
        payload.ephemeral = ephemeral
        EVENTS[name] = payload
        return payload

    return register
