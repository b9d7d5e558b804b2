"""The envelopes of a log, put in order: ids of their own, one chain of parents, times that are times."""

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from turnwright.protocol import wire
from turnwright.protocol.envelope import Event, parse

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])


def relinked(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the events, each the child of the one before; one that needs no change stays byte for byte.

    Of what is in `data`, not a byte changes. An id that was used before, or is empty, is replaced by a new
    one; a time that is none, by that of the event before.
    """
    parent: str | None = None
    time = wire.now()
    ids: set[str] = set()
    for event in events:
        changes: dict[str, str | None] = {}
        if event.parent_id != parent:
            changes["parentId"] = parent
        if not event.id or event.id in ids:
            changes["id"] = wire.new_id()
        if not is_time(event.timestamp):
            changes["timestamp"] = time
        found = changed(event, changes) if changes else event
        parent, time = found.id, found.timestamp
        ids.add(parent)
        yield found


def changed(event: Event, changes: dict[str, str | None]) -> Event:
    """The event with other fields in its envelope."""
    raw = {name: msgspec.Raw(wire.encode(value)) for name, value in changes.items()}
    return parse(wire.encode({**_fields.decode(wire.whole(event.encoded)), **raw}))


def is_time(text: str) -> bool:
    """Whether a text is an ISO 8601 time with a time zone."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
