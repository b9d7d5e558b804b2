"""When the events of a session are seen: at once and in order, or once the disk has them."""

import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import anyio

from turnwright.engine.journal.off_loop import OffLoop
from turnwright.errors import StoreError
from turnwright.protocol.envelope import Event

Subscriber = Callable[[Event], None]

SYNC_TIMEOUT = 30.0
"""Seconds that a disk may take before a session goes on without its answer."""

log = logging.getLogger(__name__)


class Publication:
    """Hands events to subscribers, in order. Behind one that the disk must have first, all others wait.

    `sync` blocks until all that was logged would survive a power loss, `name` until the log would be found;
    both raise StoreError.
    """

    def __init__(self, sync: Callable[[], None], name: Callable[[], None], off_loop: OffLoop) -> None:
        self.subscribers: list[Subscriber] = []
        self._sync = sync
        self._name = name
        self._off_loop = off_loop
        self._waiting: deque[Event] = deque()
        self._is_due = False
        self._draining = anyio.Lock(fast_acquire=True)
        self._news = anyio.Event()
        self._is_ended = False
        self._failure: StoreError | None = None

    def publish(self, event: Event, *, synced: bool = False) -> None:
        """Publish an event, now or behind those that wait; with `synced` once the disk has it."""
        if synced:
            self._is_due = True
            self._news.set()
        elif not self._waiting and not self._draining.locked():
            self._hand_out(event)
            return
        self._waiting.append(event)

    async def drain(self) -> None:
        """Return when all that waits is published; one sync does for all that was logged before it.

        What the disk refuses is published all the same, as the log has it. An abort can't cut this short, and
        a disk that doesn't answer is waited for 30 seconds.
        """
        if not self._waiting and not self._draining.locked():
            return
        with anyio.CancelScope(shield=True):
            async with self._draining:
                while self._waiting:
                    count = 1
                    if self._is_due:
                        count = len(self._waiting)
                        await self._bring_to_disk()
                    for _ in range(min(count, len(self._waiting))):
                        self._hand_out(self._waiting.popleft())

    def flush(self) -> None:
        """Drain, and block meanwhile: for a session in which nothing happens."""
        if self._is_due:
            self._is_due = False
            try:
                self._sync()
            except StoreError as error:
                self._failure = error
        while self._waiting:
            self._hand_out(self._waiting.popleft())

    async def settle(self) -> None:
        """Drain. Raises StoreError when the disk has refused something since this was asked last."""
        await self.drain()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    async def name(self) -> None:
        """Bring the log's name to the disk; a sync does so too if this couldn't."""
        with anyio.CancelScope(shield=True), suppress(StoreError):
            await self._off_loop(self._name, SYNC_TIMEOUT)

    async def keep_draining(self) -> None:
        """Publish what waits for the disk, as it comes, until the end."""
        while not self._is_ended:
            await self._news.wait()
            self._news = anyio.Event()
            await self.drain()

    def end(self) -> None:
        """Let `keep_draining` return."""
        self._is_ended = True
        self._news.set()

    async def _bring_to_disk(self) -> None:
        self._is_due = False
        try:
            if not await self._off_loop(self._sync, SYNC_TIMEOUT):
                log.warning("the disk did not answer in %d s: going on without it", SYNC_TIMEOUT)
        except StoreError as error:
            self._failure = error

    def _hand_out(self, event: Event) -> None:
        for subscriber in tuple(self.subscribers):
            subscriber(event)
