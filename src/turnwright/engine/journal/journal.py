"""Persist, then publish: the one way in which anything happens in a session."""

import logging
from collections.abc import Awaitable, Generator
from contextlib import contextmanager

import anyio

from turnwright.engine.journal.off_loop import OffLoop, inline
from turnwright.engine.journal.publication import Publication, Subscriber
from turnwright.engine.journal.rescue import brought_back
from turnwright.errors import StoreError, TurnwrightError
from turnwright.protocol.envelope import Event, seal
from turnwright.protocol.events import Data
from turnwright.protocol.events.session import Warned
from turnwright.protocol.options import Durability
from turnwright.store.base import EventLog
from turnwright.store.checksums import Altered
from turnwright.store.history import History
from turnwright.store.load import load
from turnwright.store.mend import Damage
from turnwright.store.salvage import events_of
from turnwright.store.state import State
from turnwright.store.state_record import record_of

log = logging.getLogger(__name__)


class Journal:
    """A session's log with the folds over it and those who listen to it.

    `emit` has no await: an abort can't split it, the parentId chain can't race, and nobody sees an event
    that a crash could take back. What a power loss can't take back either depends on `durability`: a turn's
    end and all before it, every event, or nothing.
    """

    def __init__(
        self, event_log: EventLog, *, durability: Durability = "turn", off_loop: OffLoop = inline
    ) -> None:
        self.log = event_log
        self.state = State()
        self.history = History()
        self.damage: Damage | None = None
        self.altered: Altered | None = None
        self._publication = Publication(lambda: self.log.begin_sync(), off_loop)
        self._off_loop = off_loop
        self._durability: Durability = durability
        self._is_loaded = False
        self._knows_all = False
        self._is_begun = False
        self._writers = 0
        self.is_asleep = False

    def sleep(self) -> None:
        """Let go of the log and of what it says until `wake`; who listens goes on listening."""
        self._publication.flush()
        self.log.close()
        last, epoch = self.state.last_id, self.history.epoch
        self.state, self.history = State(), History()
        self.state.last_id, self.history.epoch = last, epoch
        self._is_loaded = False
        self.is_asleep = True

    def wake(self, event_log: EventLog) -> None:
        """Take up the log again. Raises SessionInUse or StoreError, and then it sleeps on."""
        self.log = event_log
        try:
            with self.writing():
                self.is_asleep = False
        except TurnwrightError:
            event_log.close()
            raise

    def begin(self) -> None:
        """Hold the log until `rest`, and know what others have added to it.

        Raises SessionInUse while another process holds it, or StoreError; then nothing was written.
        """
        self._hold()
        self._is_begun = True

    def rest(self) -> None:
        """Let others write; what is emitted from here on holds the log just for itself."""
        self._is_begun = False
        self._let_go()

    @contextmanager
    def writing(self, *, briefly: bool = False) -> Generator[None]:
        """Hold the log for several events in a row, which with `briefly` follow at once.

        Raises what `begin` does.
        """
        self._hold(briefly=briefly)
        self._writers += 1
        try:
            yield
        finally:
            self._writers -= 1
            self._let_go()

    def _hold(self, *, briefly: bool = False) -> None:
        if self.log.hold(briefly=briefly) or not self._is_loaded:
            known = (self.state, self.history) if self._is_loaded and self.log.is_cut else None
            try:
                self._load()
                if known is not None:
                    for data in brought_back(*known, self.state, self.history):
                        self._say(data)
            except StoreError:
                self._let_go()
                raise

    def _let_go(self) -> None:
        if not self._is_begun and not self._writers:
            self.log.release()

    def _load(self) -> None:
        epoch = self.history.epoch
        self.state, self.history, self.damage, self.altered = load(self.log)
        self.history.epoch += epoch + 1
        self._is_loaded = self._knows_all = True
        for fault in (self.damage, self.altered):
            if fault is not None:
                log.warning("%s", fault)

    def events(self) -> list[Event]:
        """Read the log again, as it stands now."""
        return list(events_of(self.log.read()))

    def rewrite(self, events: list[Event], *, then: Data | None = None) -> None:
        """Replace the log, with one more event at its end if there is one to add, and fold it anew.

        The added one is published. Raises StoreError, and then nothing has happened.
        """
        added = None if then is None else seal(then, parent_id=events[-1].id)
        events = [*events, added] if added else events
        self.log.rewrite(event.encoded for event in events)
        epoch = self.history.epoch
        self.state, self.history = State(), History()
        self.history.epoch = epoch + 1
        for event in events:
            self._fold(event)
        self._is_loaded = self._knows_all = True
        if added is not None:
            self._publish(added)

    @property
    def subscribers(self) -> list[Subscriber]:
        """Those who hear of every event."""
        return self._publication.subscribers

    def emit(self, data: Data, *, ephemeral: bool | None = None, agent_id: str | None = None) -> Event:
        """Stamp, log, fold and publish one event. Raises StoreError, and then nothing has happened."""
        event = self._append(data, ephemeral, agent_id)
        self._publish(event)
        return event

    def emit_durably(self, data: Data, *, agent_id: str | None = None) -> Event:
        """Emit an event that, with all before it, is on the disk before anyone sees it or what follows.

        Not with the durability "none". Whoever goes on to what must not happen before that awaits `settled`
        first. Raises StoreError, and then nothing has happened.
        """
        event = self._append(data, None, agent_id)
        if self._durability == "none":
            self._publication.publish(event)
        else:
            self._publication.publish_synced(event, at_once=True)
        return event

    def record(self) -> None:
        """Emit what the folds have come to, for a log that grows long to be resumed from there.

        Nothing while the log holds another program's lines that aren't in the folds, or a first message
        is still to come. Raises StoreError.
        """
        with self.writing(briefly=True):
            self._look()
            record = record_of(self.state, self.history) if self._knows_all else None
            if record is not None:
                self._publish(self._log(record, None))

    @property
    def refusals(self) -> int:
        """How often the disk has refused to keep what was logged."""
        return self._publication.refusals

    def settled(self, since: int) -> Awaitable[None]:
        """Return when everything that was emitted is published, and on the disk as far as it must be.

        Raises StoreError when the disk has refused something since there were `since` refusals.
        """
        return self._publication.settled(since)

    def published(self) -> Awaitable[None]:
        """Return when everything that was emitted is published.

        What a client is asked waits for this, so that it stays behind the events that led to it.
        """
        return self._publication.published()

    async def caught_up(self) -> None:
        """Be `published`, with the durability "event"; answers to a client's requests wait for this.

        Else they don't: many are given before the next message is read, and while one session's disk stalls,
        those of others are to be heard.
        """
        if self._durability == "event":
            await self._publication.published()

    def bring_name_to_disk(self) -> None:
        """Begin to bring the log's name to the disk: the first sync needn't do it then."""
        if self._durability != "none":
            self._off_loop(self.log.begin_naming(), lambda failure: None)

    async def close(self) -> None:
        """Publish what waits, and let go of the log. An abort doesn't cut that short."""
        try:
            with anyio.CancelScope(shield=True):
                await self._publication.published()
        finally:
            self.log.close()

    def _publish(self, event: Event) -> None:
        if self._durability == "event" and not event.ephemeral:
            self._publication.publish_synced(event)
        else:
            self._publication.publish(event)

    def _append(self, data: Data, ephemeral: bool | None, agent_id: str | None) -> Event:
        if data.ephemeral if ephemeral is None else ephemeral:
            return seal(data, parent_id=self.state.last_id, ephemeral=True, agent_id=agent_id)
        if self._is_begun or self._writers:
            return self._write(data, agent_id)
        with self.writing(briefly=True):
            return self._write(data, agent_id)

    def _say(self, data: Data) -> None:
        """Log and publish an event of the journal's own."""
        self._publish(self._write(data, None))

    def _write(self, data: Data, agent_id: str | None) -> Event:
        self._look()
        return self._log(data, agent_id)

    def _look(self) -> None:
        meddling = self.log.look()
        if meddling is not None:
            self._knows_all = False
            self._say(Warned("log_changed", meddling))

    def _log(self, data: Data, agent_id: str | None) -> Event:
        event = seal(data, parent_id=self.state.last_id, ephemeral=False, agent_id=agent_id)
        self.log.append(event.encoded)
        self._fold(event)
        return event

    def _fold(self, event: Event) -> None:
        self.state.apply(event)
        self.history.apply(event)
