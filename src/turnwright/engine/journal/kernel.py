"""Syncs that Linux carries out by itself: no thread of ours waits for them."""

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial

from turnwright.engine.journal.off_loop import Threads, Work
from turnwright.store.base import EventLog

PAUSE = 0.005
"""Seconds after a run's end: by then its client has heard of it."""

MOST_SYNCS = 256
"""In the queue at once; threads do the rest."""


class Queue:
    """The kernel's queue of syncs, opened: for which it takes some 60 ms.

    Raises ImportError or SystemError where there is none.
    """

    def __init__(self) -> None:
        from caio.linux_aio import Context, Operation

        self._context = Context(MOST_SYNCS)
        self._operation = Operation
        self._loop: asyncio.AbstractEventLoop | None = None

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Call back on this event loop."""
        self._loop = loop
        loop.add_reader(self._context.fileno, self._tell)

    def sync(self, fd: int, done: Callable[[int], None]) -> bool:
        """Sync a file and then call `done` with 0 or a negative errno; whether the queue has room for it."""
        operation = self._operation.fsync(fd)
        operation.set_callback(lambda result: done(signed(result)))
        try:
            return self._context.submit(operation) == 1  # pyright: ignore[reportUnknownMemberType]
        except (OverflowError, ValueError, SystemError):
            return False

    def close(self) -> None:
        """Call back no more."""
        if self._loop is not None:
            self._loop.remove_reader(self._context.fileno)

    def _tell(self) -> None:
        with suppress(BlockingIOError):
            self._context.poll()
        while self._context.process_events():
            pass


class Kernel(Threads):
    """Threads, until the pause after the first run; from then on the kernel's queue, where there is one.

    A thread that syncs has to get hold of the interpreter twice, which costs a turn more than the sync does.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kernel: Queue | None = None
        self._is_asked_for = False
        self._is_closed = False
        self.opened = asyncio.Event()
        """Set once the kernel does the syncs."""

    async def sync(self, log: EventLog, patience: float) -> bool:
        block = log.syncing() if self._kernel else None
        if self._kernel is None or block is None:
            return await super().sync(log, patience)
        stack = ExitStack()
        fd = stack.enter_context(block)
        results: list[int] = []
        work = Work(lambda: _end(stack, results[0]))

        def done(result: int) -> None:
            results.append(result)
            try:
                work.carry_out()
            finally:
                work.settle()

        if self._kernel.sync(fd, done):
            return await work.wait(patience)
        return await self.run(partial(_sync, stack, fd), patience)

    def rest(self) -> None:
        if not self._is_asked_for:
            self._is_asked_for = True
            asyncio.get_running_loop().call_later(PAUSE, self._open)

    def close(self) -> None:
        super().close()
        self._is_closed = True
        if self._kernel is not None:
            self._kernel.close()
            self._kernel = None

    def _open(self) -> None:
        loop = asyncio.get_running_loop()

        def work() -> None:
            with suppress(ImportError, SystemError):
                queue = Queue()
                with suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(self._begin, queue)

        if not self._is_closed:
            threading.Thread(target=work, name="turnwright-kernel", daemon=True).start()

    def _begin(self, queue: Queue) -> None:
        if not self._is_closed:
            queue.watch(asyncio.get_running_loop())
            self._kernel = queue
            self.opened.set()


def signed(result: int) -> int:
    """A result of the kernel's, of 64 bits, that caio gives as if it had no sign."""
    return result - (1 << 64) if result >> 63 else result


def _end(stack: ExitStack, result: int) -> None:
    with stack:
        if result < 0:
            raise OSError(-result, os.strerror(-result))


def _sync(stack: ExitStack, fd: int) -> None:
    with stack:
        os.fsync(fd)
