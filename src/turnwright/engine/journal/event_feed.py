"""A session's events for a client that asks for them instead of being sent them."""

from collections import deque
from collections.abc import Callable, Sequence

import anyio
import msgspec

from turnwright.engine.journal.journal import Journal
from turnwright.protocol.envelope import Event

REMEMBERED = 1000
"""Events that are kept in memory, so that the ephemeral ones among them can still be read."""

START = "start"

Wanted = Callable[[Event], bool]


class Page(msgspec.Struct, frozen=True):
    """Events in order; `cursor` goes on from here, `expired` says that the one given pointed nowhere."""

    events: Sequence[Event]
    cursor: str
    has_more: bool = False
    expired: bool = False


class EventFeed:
    """Pages of a log, forward with what is ephemeral and backward without.

    A cursor names the last event that was looked at, and the last one before it that is in the log. Events
    are remembered from the first use on; a session that nobody reads so pays nothing.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._recent: deque[Event] | None = None

    def tail(self) -> str:
        """A cursor after everything so far."""
        return _cursor(self._all())

    async def read(self, cursor: str | None, limit: int, wait: float, wanted: Wanted) -> Page:
        """The next events after `cursor`; when there are none, those that come within `wait` seconds."""
        page = self._read(cursor, limit, wanted)
        if page.events or not wait:
            return page
        with anyio.move_on_after(wait):
            await self._one_comes(wanted)
        later = self._read(page.cursor, limit, wanted)
        return msgspec.structs.replace(later, expired=page.expired)

    def read_back(self, cursor: str | None, limit: int, wanted: Wanted) -> Page:
        """The last events of the log before `cursor`, or of the whole log."""
        events = self._journal.events()
        position = None if cursor is None else _position(events, cursor)
        expired = cursor is not None and position is None
        older = [event for event in events[:position] if wanted(event)]
        found = older[-limit:]
        at = found[0].id if found else START
        return Page(found, at, len(older) > len(found), expired)

    def _read(self, cursor: str | None, limit: int, wanted: Wanted) -> Page:
        events = self._all()
        after, expired = _after(events, cursor)
        found: list[Event] = []
        for index in range(after, len(events)):
            if wanted(events[index]):
                if len(found) == limit:
                    return Page(found, _cursor(events[:index]), True, expired)
                found.append(events[index])
        return Page(found, _cursor(events), False, expired)

    def _all(self) -> list[Event]:
        """The log with the ephemeral events that are remembered, in the order in which they came."""
        logged = self._journal.events()
        if self._recent is None:
            self._recent = deque(maxlen=REMEMBERED)
            self._journal.subscribers.append(self._remember)
            return logged
        places = {event.id: index for index, event in enumerate(logged)}
        recent = [event for event in self._recent if event.ephemeral or event.id in places]
        first = next((places[event.id] for event in recent if not event.ephemeral), len(logged))
        return [*logged[:first], *recent]

    def _remember(self, event: Event) -> None:
        assert self._recent is not None
        self._recent.append(event)

    async def _one_comes(self, wanted: Wanted) -> None:
        came = anyio.Event()

        def hear(event: Event) -> None:
            if wanted(event):
                came.set()

        self._journal.subscribers.append(hear)
        try:
            await came.wait()
        finally:
            self._journal.subscribers.remove(hear)


def _cursor(events: Sequence[Event]) -> str:
    if not events:
        return START
    logged = next((event.id for event in reversed(events) if not event.ephemeral), START)
    return f"{logged}|{events[-1].id}"


def _after(events: Sequence[Event], cursor: str | None) -> tuple[int, bool]:
    """Where to go on, and whether the cursor pointed nowhere."""
    if cursor is None or cursor == START:
        return 0, False
    for event_id in reversed(cursor.split("|")):
        position = 0 if event_id == START else _position(events, event_id, past=True)
        if position is not None:
            return position, False
    return 0, True


def _position(events: Sequence[Event], event_id: str, *, past: bool = False) -> int | None:
    if event_id == START:
        return 0
    return next((index + past for index, event in enumerate(events) if event.id == event_id), None)
