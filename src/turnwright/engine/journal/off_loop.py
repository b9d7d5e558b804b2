"""Work that blocks, done off the event loop in threads that stay.

A turn ends with one fsync. `anyio.to_thread` costs a turn as much time as an fsync itself, for limits,
contexts and cancellation that a sync has no use of.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from turnwright.errors import StoreError

OffLoop = Callable[[Callable[[], None], float], Coroutine[Any, Any, bool]]
"""Does work that blocks, and waits for it so many seconds at most; False if it wasn't done by then.

Raises the StoreError that the work raises. It must not be cancelled.
"""


async def inline(work: Callable[[], None], patience: float) -> bool:
    """Be an `OffLoop` that blocks after all, for a log that nobody else waits for."""
    work()
    return True


THREAD_NAME = "turnwright-sync"
MOST_THREADS = 4
"""Disks and file systems gain from syncs that wait side by side, and little from more than a few."""


class _Work:
    """What is to be done, and who waits for it."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work
        self.loop = asyncio.get_running_loop()
        self.done: asyncio.Future[bool] = self.loop.create_future()
        self._outcome: Exception | None = RuntimeError("a bug ended the thread")

    def carry_out(self) -> None:
        """In a thread: do it."""
        try:
            self.work()
            self._outcome = None
        except StoreError as error:
            self._outcome = error

    def tell(self) -> None:
        """In a thread: tell the event loop, if that still runs."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.settle, self._outcome)

    def settle(self, error: Exception | None, in_time: bool = True) -> None:
        """On the event loop: the first outcome counts."""
        if self.done.done():
            return
        if error is None:
            self.done.set_result(in_time)
        else:
            self.done.set_exception(error)


class Threads:
    """As many threads as there is work for, which wait for more until `close`.

    They are daemons: a dead disk keeps no process from ending.
    """

    def __init__(self, most: int = MOST_THREADS) -> None:
        self._most = most
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._count = 0
        self._busy = 0
        self._changing = threading.Lock()

    async def run(self, work: Callable[[], None], patience: float) -> bool:
        """Be an `OffLoop`."""
        wanted = _Work(work)
        with self._changing:
            self._busy += 1
            is_short = self._busy > self._count < self._most
            self._count += is_short
        if is_short:
            threading.Thread(target=self._serve, name=THREAD_NAME, daemon=True).start()
        self._queue.put(wanted)
        timer = wanted.loop.call_later(patience, wanted.settle, None, False)
        try:
            return await wanted.done
        finally:
            timer.cancel()

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
