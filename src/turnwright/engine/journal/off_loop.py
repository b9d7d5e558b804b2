"""Work that blocks, done off the event loop in threads that stay.

A turn ends with one fsync. `anyio.to_thread` costs a turn as much time as an fsync itself, for limits,
contexts and cancellation that a sync has no use of.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue

from turnwright.errors import StoreError

log = logging.getLogger(__name__)

Work = Callable[[], None]
"""Blocks, and may raise a StoreError."""

Done = Callable[[StoreError | None], None]
"""Is called on the event loop, with what the work raised."""

OffLoop = Callable[[Work, Done], None]
"""Begins work at once, and returns while it is done."""


def inline(work: Work, done: Done) -> None:
    """Be an `OffLoop` that blocks after all, for a log that nobody else waits for."""
    done(outcome(work))


def outcome(work: Work) -> StoreError | None:
    """Do it, and give what it raised."""
    try:
        work()
    except StoreError as error:
        return error
    return None


THREAD_NAME = "turnwright-sync"
MOST_THREADS = 4
"""Disks and file systems gain from syncs that wait side by side, and little from more than a few."""


class _Task:
    """What is to be done, and who is told."""

    def __init__(self, work: Work, done: Done) -> None:
        self._work = work
        self._done = done
        self._loop = asyncio.get_running_loop()
        self._failure: StoreError | None = StoreError("the sync was ended by a bug")

    def carry_out(self) -> None:
        """In a thread: do it."""
        self._failure = outcome(self._work)

    def tell(self) -> None:
        """In a thread: tell the event loop, if that still runs."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._done, self._failure)


class Threads:
    """As many threads as there is work for, which wait for more until `close`.

    They are daemons: a dead disk keeps no process from ending. Where the system gives not even one, as under
    a limit of processes, the event loop does the work itself and is blocked meanwhile.
    """

    def __init__(self, most: int = MOST_THREADS) -> None:
        self._most = most
        self._queue: SimpleQueue[_Task | None] = SimpleQueue()
        self._count = 0
        self._busy = 0
        self._changing = threading.Lock()

    def begin(self, work: Work, done: Done) -> None:
        """Be an `OffLoop`."""
        task = _Task(work, done)
        with self._changing:
            self._busy += 1
            is_short = self._busy > self._count < self._most
            self._count += is_short
        if is_short and not self._start():
            task.carry_out()
            with self._changing:
                self._busy -= 1
            task.tell()
        else:
            self._queue.put(task)

    def _start(self) -> bool:
        """Start one more thread; whether there is any."""
        serve = partial(self._serve, self._queue)
        try:
            threading.Thread(target=serve, name=THREAD_NAME, daemon=True).start()
        except RuntimeError as error:
            log.debug("syncs have one thread less: %s", error)
            with self._changing:
                self._count -= 1
                return self._count > 0
        return True

    def close(self) -> None:
        """Let the threads end; what is asked from here on gets new ones."""
        with self._changing:
            for _ in range(self._count):
                self._queue.put(None)
            self._queue, self._count = SimpleQueue(), 0

    def _serve(self, queue: SimpleQueue[_Task | None]) -> None:
        try:
            while task := queue.get():
                try:
                    task.carry_out()
                finally:
                    with self._changing:
                        self._busy -= 1
                    task.tell()  # last: whoever hears of it may have more work, for which this thread is free
        finally:
            with self._changing:
                if queue is self._queue:
                    self._count -= 1
