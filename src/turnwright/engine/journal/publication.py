"""When the events of a session are seen: at once and in order, or once the disk has them."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable

import anyio

from turnwright.engine.journal.off_loop import OffLoop, Work, outcome
from turnwright.errors import StoreError
from turnwright.protocol.envelope import Event

Subscriber = Callable[[Event], None]

SYNC_TIMEOUT = 30.0
"""Seconds that a disk may take before a session goes on without its answer."""

log = logging.getLogger(__name__)


class Publication:
    """Hands events to subscribers, in order. Behind one that the disk must have first, all others wait.

    `begin_sync` gives work that blocks until all that was logged would survive a power loss. Whoever emits
    goes on meanwhile, and asks `settled` before anything happens that must come after. What the disk refuses
    is published all the same, as the log has it; `refusals` counts how often it did.
    """

    def __init__(self, begin_sync: Callable[[], Work], off_loop: OffLoop) -> None:
        self.subscribers: list[Subscriber] = []
        self._begin_sync = begin_sync
        self._off_loop = off_loop
        self._waiting: deque[Event] = deque()
        self._is_due = False
        self._under_way: _Sync | None = None
        self._failure: StoreError | None = None
        self.refusals = 0
        self._emptied: anyio.Event | None = None

    def publish(self, event: Event) -> None:
        """Publish an event, now or behind those that wait."""
        if self._waiting:
            self._waiting.append(event)
        else:
            self._hand_out(event)

    def publish_synced(self, event: Event, *, at_once: bool = False) -> None:
        """Publish an event once the disk has it.

        One sync does for all that was logged before it: so it begins in the next tick of the event loop, if
        not `at_once`.
        """
        self._waiting.append(event)
        self._is_due = True
        if at_once:
            self._begin()
        elif self._under_way is None:
            asyncio.get_running_loop().call_soon(self._begin)

    async def published(self) -> None:
        """Return when nothing waits, which a dead disk puts off by 30 seconds at most."""
        while self._waiting:
            self._emptied = self._emptied or anyio.Event()
            await self._emptied.wait()

    async def settled(self, since: int) -> None:
        """Be `published`. Raises StoreError when there were more refusals of the disk than `since`."""
        await self.published()
        if self._failure is not None and self.refusals > since:
            raise self._failure

    def _refused(self, failure: StoreError | None) -> None:
        if failure is not None:
            log.warning("%s", failure)
            self._failure = failure
            self.refusals += 1

    def flush(self) -> None:
        """Publish what waits, and block meanwhile: for a session in which nothing happens.

        A sync under way is made again, here: nobody can wait for its end.
        """
        if self._is_due or self._under_way is not None:
            self._is_due, self._under_way = False, None
            self._refused(outcome(lambda: self._begin_sync()()))
        self._go_on()

    def ended(self, sync: "_Sync", failure: StoreError | None) -> None:
        """Publish what a sync was for, and what may follow; only the sync under way counts."""
        if sync is not self._under_way:
            return
        self._refused(failure)
        try:
            for _ in range(sync.count):
                self._hand_out(self._waiting.popleft())
        finally:
            self._under_way = None
            self._go_on()

    def _begin(self) -> None:
        if self._is_due and self._under_way is None:
            self._is_due = False
            sync = self._under_way = _Sync(self, len(self._waiting))
            try:
                work = self._begin_sync()
            except StoreError as failure:
                sync.end(failure)
                return
            self._off_loop(work, sync.end)
            if self._under_way is sync:
                sync.watch()

    def _go_on(self) -> None:
        while self._waiting and not self._is_due and self._under_way is None:
            self._hand_out(self._waiting.popleft())
        self._begin()
        if not self._waiting and self._emptied is not None:
            self._emptied.set()
            self._emptied = None

    def _hand_out(self, event: Event) -> None:
        for subscriber in tuple(self.subscribers):
            subscriber(event)


class _Sync:
    """One sync, for the first `count` events that wait."""

    def __init__(self, publication: Publication, count: int) -> None:
        self.count = count
        self._publication = publication
        self._timer: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        """Go on without the disk's answer when it takes too long."""
        self._timer = asyncio.get_running_loop().call_later(SYNC_TIMEOUT, self._give_up)

    def end(self, failure: StoreError | None) -> None:
        """Be told by the disk."""
        if self._timer is not None:
            self._timer.cancel()
        self._publication.ended(self, failure)

    def _give_up(self) -> None:
        log.warning("the disk did not answer in %d s: going on without it", SYNC_TIMEOUT)
        self._publication.ended(self, None)
