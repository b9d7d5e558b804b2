"""Syncs that the kernel carries out beside Python, where it can.

A thread has to get hold of the interpreter twice for each sync, and every time a busy event loop and the
thread wait for each other: without that a turn takes a tenth less.
"""

import asyncio
import errno
import logging
import os
from collections import deque
from collections.abc import Sequence
from functools import partial

import anyio

from turnwright.engine.journal.io_uring import Uring
from turnwright.engine.journal.off_loop import Done, OffLoop, Work, outcome
from turnwright.store.syncing import Sync

MOST_FILES = 16
"""Files and folders that are synced at once; what is more waits, and opens nothing until then."""

log = logging.getLogger(__name__)


class Ring:
    """An `OffLoop` for one event loop. What is no plain sync is done otherwise, and all without io_uring."""

    def __init__(self, otherwise: OffLoop) -> None:
        self._otherwise = otherwise
        self._uring: Uring | None = None
        self._is_open = True
        self._waiting: deque[_Begun] = deque()
        self._under_way: set[_Begun] = set()
        self._ended: deque[_Begun] = deque()
        self._files = 0
        self._is_due = False
        self._closed: anyio.Event | None = None

    def begin(self, work: Work, done: Done) -> None:
        """Be an `OffLoop`."""
        if isinstance(work, Sync) and work.is_plain and self._opens():
            self._waiting.append(_Begun(work, done))
            self._go_on()
        else:
            self._otherwise(work, done)

    async def close(self) -> None:
        """From here on all is done otherwise. Returns when what has begun has come to its end.

        An event loop that ends before leaves descriptors open for good: nobody else is told by the kernel.
        """
        self._is_open = False
        self._let_go()
        if self._uring is not None:
            self._closed = anyio.Event()
            await self._closed.wait()

    def _opens(self) -> bool:
        if self._is_open and self._uring is None:
            try:
                self._uring = Uring(2 * MOST_FILES)
            except (ImportError, SystemError) as error:
                log.debug("syncs are left to threads: %s", error)
                self._is_open = False
            else:
                asyncio.get_running_loop().add_reader(self._uring.fileno, self._collect)
        return self._is_open

    def _let_go(self) -> None:
        if self._uring is not None and not (self._waiting or self._under_way):
            asyncio.get_running_loop().remove_reader(self._uring.fileno)
            self._uring = None
            if self._closed is not None:
                self._closed.set()

    def _go_on(self) -> None:
        """Begin what waits: at once if the kernel has none, else with all that this tick brings."""
        was_idle = not self._files
        while self._waiting and self._files < MOST_FILES:
            begun = self._waiting.popleft()
            fds = begun.open()
            if begun.lacks_descriptors and self._under_way:
                self._waiting.appendleft(begun)  # those under way give theirs back
                break
            self._begin(begun, fds)
        if was_idle:
            self._submit()
        elif not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._submit)

    def _begin(self, begun: "_Begun", fds: Sequence[int]) -> None:
        assert self._uring is not None
        self._under_way.add(begun)
        self._files += len(fds)
        for fd in fds:
            self._uring.add(fd, partial(self._synced, begun))
        if not fds:
            self._ended.append(begun)
            asyncio.get_running_loop().call_soon(self._tell)

    def _submit(self) -> None:
        self._is_due = False
        if self._uring is not None:
            try:
                self._uring.submit()
            except SystemError as error:
                log.warning("the kernel takes no more syncs, and threads do them: %s", error)
                self._give_up()

    def _give_up(self) -> None:
        left = [*self._under_way.difference(self._ended), *self._waiting]
        self._under_way.intersection_update(self._ended)
        self._waiting.clear()
        self._is_open = False
        self._let_go()
        for begun in left:
            self._otherwise(begun.sync, begun.done)

    def _collect(self) -> None:
        if self._uring is not None:
            self._uring.collect()
            self._tell()

    def _synced(self, begun: "_Begun", result: int) -> None:
        self._files -= 1
        if begun.is_over(result):
            self._ended.append(begun)

    def _tell(self) -> None:
        try:
            while self._ended:
                begun = self._ended.popleft()
                self._under_way.discard(begun)
                if begun.is_cancelled:
                    self._otherwise(begun.sync, begun.done)
                else:
                    begun.tell()
        finally:
            if self._ended:  # one of those who were told has raised
                asyncio.get_running_loop().call_soon(self._tell)
            if self._waiting:
                self._go_on()
            elif not self._is_open:
                self._let_go()


class _Begun:
    """A sync, which may be one of several files, and who is told."""

    def __init__(self, sync: Sync, done: Done) -> None:
        self.sync = sync
        self.done = done
        self._left = 0
        self._failure: OSError | None = None

    def open(self) -> list[int]:
        """What is to be synced; nothing when it is over already."""
        self._failure = None
        try:
            fds = self.sync.open()
        except OSError as error:
            self._failure = error
            return []
        self._left = len(fds)
        return fds

    def is_over(self, result: int) -> bool:
        """Take what became of one of its files, 0 or a negative errno; whether that was the last."""
        self._left -= 1
        if result < 0 and (self._failure is None or self.is_cancelled):  # the disk says a refusal once alone
            self._failure = OSError(-result, os.strerror(-result))
        return not self._left

    @property
    def lacks_descriptors(self) -> bool:
        """Whether as many files are open as may be."""
        return self._failure is not None and self._failure.errno in (errno.EMFILE, errno.ENFILE)

    @property
    def is_cancelled(self) -> bool:
        """Whether the kernel had no thread of its own for it: a limit of processes counts those too."""
        return self._failure is not None and self._failure.errno == errno.ECANCELED

    def tell(self) -> None:
        """Say how it went."""
        self.done(outcome(partial(self.sync.end, self._failure)))
