"""Persist, then publish: the one way in which anything happens in a session."""

import logging
from collections.abc import Callable

import anyio
import anyio.to_thread

from turnwright.errors import InvalidParams
from turnwright.protocol.envelope import Event, parse, seal
from turnwright.protocol.events import Data
from turnwright.store.base import EventLog
from turnwright.store.history import History
from turnwright.store.state import State

Subscriber = Callable[[Event], None]

SYNC_TIMEOUT = 30.0

log = logging.getLogger(__name__)


class Journal:
    """A session's log with the folds over it and those who listen to it.

    `emit` has no await: an abort can't split it, the parentId chain can't race, and nobody sees an event
    that a crash could take back. With `durable` a turn's end is on the disk before it is published.
    """

    def __init__(self, event_log: EventLog, *, durable: bool = True) -> None:
        self.log = event_log
        self.state = State()
        self.history = History()
        self.subscribers: list[Subscriber] = []
        self._durable = durable
        self._held: list[Event] | None = None

    def load(self) -> None:
        """Fold everything that the log holds; a line that isn't an event is passed over with a warning."""
        for number, line in enumerate(self.log.read(), 1):
            try:
                event = parse(line)
            except InvalidParams as error:
                log.warning("line %d of the log is no event: %s", number, error)
            else:
                self._fold(event)

    def events(self) -> list[Event]:
        """Read the log again, as it stands now."""
        found: list[Event] = []
        for line in self.log.read():
            try:
                found.append(parse(line))
            except InvalidParams:
                continue
        return found

    def rewrite(self, events: list[Event]) -> None:
        """Replace the log, and fold it anew. Raises StoreError, and then nothing has happened."""
        self.log.rewrite(event.encoded for event in events)
        epoch = self.history.epoch
        self.state, self.history = State(), History()
        self.history.epoch = epoch + 1
        for event in events:
            self._fold(event)

    def emit(self, data: Data, *, ephemeral: bool | None = None, agent_id: str | None = None) -> Event:
        """Stamp, log, fold and publish one event. Raises StoreError, and then nothing has happened."""
        event = self._append(data, ephemeral, agent_id)
        self._publish(event)
        return event

    async def settle(self, data: Data, *, agent_id: str | None = None) -> Event:
        """Emit an event that, with all before it, is on the disk before anyone sees it or what follows."""
        if not self._durable or self._held is not None:
            return self.emit(data, agent_id=agent_id)
        event = self._append(data, None, agent_id)
        self._held = [event]
        try:
            with anyio.CancelScope(shield=True), anyio.move_on_after(SYNC_TIMEOUT) as waiting:
                await anyio.to_thread.run_sync(self.log.sync, abandon_on_cancel=True)
            if waiting.cancelled_caught:
                log.warning("the disk did not answer in %d s: going on without it", SYNC_TIMEOUT)
        finally:
            held, self._held = self._held, None
            for late in held:
                self._publish(late)
        return event

    def _append(self, data: Data, ephemeral: bool | None, agent_id: str | None) -> Event:
        event = seal(data, parent_id=self.state.last_id, ephemeral=ephemeral, agent_id=agent_id)
        if not event.ephemeral:
            self.log.append(event.encoded)
            self._fold(event)
        return event

    def _fold(self, event: Event) -> None:
        self.state.apply(event)
        self.history.apply(event)

    def _publish(self, event: Event) -> None:
        if self._held is not None:
            self._held.append(event)
            return
        for subscriber in tuple(self.subscribers):
            subscriber(event)
