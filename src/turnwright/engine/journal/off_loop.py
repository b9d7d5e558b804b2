"""Work that blocks, done off the event loop in threads that stay.

A turn ends with one fsync. `anyio.to_thread` costs a turn as much time as an fsync itself, for limits,
contexts and cancellation that a sync has no use of.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Protocol

from turnwright.errors import StoreError
from turnwright.store.base import EventLog


class OffLoop(Protocol):
    """Does work that blocks, and waits for it `patience` seconds at most; False if it wasn't done by then.

    What waits must not be cancelled.
    """

    async def run(self, work: Callable[[], None], patience: float) -> bool:
        """Do `work`. Raises the StoreError that it raises."""
        ...

    async def sync(self, log: EventLog, patience: float) -> bool:
        """Bring a log to the disk. Raises StoreError."""
        return await self.run(log.sync, patience)

    def rest(self) -> None:
        """Nobody waits for anything: a moment for what takes time."""

    def close(self) -> None:
        """No more is asked of this one."""


class Inline(OffLoop):
    """Blocks after all, for a log that nobody else waits for."""

    async def run(self, work: Callable[[], None], patience: float) -> bool:
        work()
        return True


THREAD_NAME = "turnwright-sync"
MOST_THREADS = 4
"""Disks and file systems gain from syncs that wait side by side, and little from more than a few."""


class Work:
    """What is to be done, and who waits for it."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work
        self.loop = asyncio.get_running_loop()
        self._done: asyncio.Future[bool] = self.loop.create_future()
        self._outcome: Exception | None = RuntimeError("a bug ended the thread")

    async def wait(self, patience: float) -> bool:
        """Return whether it was done in time. Raises what it raised."""
        timer = self.loop.call_later(patience, self._settle, None, False)
        try:
            return await self._done
        finally:
            timer.cancel()

    def carry_out(self) -> None:
        """In any thread: do it."""
        try:
            self.work()
            self._outcome = None
        except StoreError as error:
            self._outcome = error

    def tell(self) -> None:
        """In a thread: tell the event loop, if that still runs."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.settle)

    def settle(self) -> None:
        """On the event loop: tell who waits."""
        self._settle(self._outcome)

    def _settle(self, error: Exception | None, in_time: bool = True) -> None:
        if self._done.done():  # the first outcome counts
            return
        if error is None:
            self._done.set_result(in_time)
        else:
            self._done.set_exception(error)


class Threads(OffLoop):
    """As many threads as there is work for, which wait for more until `close`.

    They are daemons: a dead disk keeps no process from ending.
    """

    def __init__(self, most: int = MOST_THREADS) -> None:
        self._most = most
        self._queue: SimpleQueue[Work | None] = SimpleQueue()
        self._count = 0
        self._busy = 0
        self._changing = threading.Lock()

    async def run(self, work: Callable[[], None], patience: float) -> bool:
        wanted = Work(work)
        with self._changing:
            self._busy += 1
            is_short = self._busy > self._count < self._most
            self._count += is_short
        if is_short:
            threading.Thread(target=self._serve, name=THREAD_NAME, daemon=True).start()
        self._queue.put(wanted)
        return await wanted.wait(patience)

    def close(self) -> None:
        """Let the threads end; what is asked from here on gets new ones."""
        for _ in range(self._count):
            self._queue.put(None)

    def _serve(self) -> None:
        try:
            while work := self._queue.get():
                try:
                    work.carry_out()
                finally:
                    with self._changing:
                        self._busy -= 1
                    work.tell()  # last: whoever hears of it may have more work, for which this thread is free
        finally:
            with self._changing:
                self._count -= 1
