"""Syncs that the kernel does beside Python, where it can: on Linux, with the extra `fast`.

A thread that syncs wants the interpreter twice, and each time a busy event loop and it wait for each other.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from errno import EINVAL
from functools import partial

from turnwright.engine.journal.log_sync import LogSync
from turnwright.engine.journal.off_loop import Done, Threads, Work, outcome
from turnwright.errors import StoreError
from turnwright.store.file_sync import FileSync

AT_ONCE = 256
"""Syncs under way in the kernel; what is more goes to the threads."""
WORTH_IT = 2
"""The sync with which it pays to load what asks the kernel: a run of one turn has one."""

log = logging.getLogger(__name__)


class KernelSyncs:
    """An `OffLoop` that has the kernel sync a log where one file's sync is all, and threads do the rest."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._count = 0
        self._is_open = True
        self._kernel: Kernel | None = None

    def begin(self, work: Work, done: Done) -> None:
        """Be an `OffLoop`."""
        if self._kernel is not None and isinstance(work, LogSync) and (sync := work.begin()):
            self._kernel.begin(sync, done, otherwise=partial(self._threads.begin, work, done))
            return
        self._threads.begin(work, done)
        if isinstance(work, LogSync):
            self._count += 1
            if self._count == WORTH_IT:
                self._load()

    def close(self) -> None:
        """Ask the kernel no more, and let the threads end."""
        self._is_open = False
        self._threads.close()
        if self._kernel is not None:
            self._kernel.close()
            self._kernel = None

    def _load(self) -> None:
        """Have a thread load what asks the kernel, and use it from then on."""
        loaded: list[Kernel] = []

        def load() -> None:
            try:
                loaded.append(Kernel())
            except (ImportError, SystemError) as error:
                log.debug("syncs are left to threads: %s", error)

        def use(failure: StoreError | None) -> None:
            if loaded and self._is_open:
                self._kernel = loaded[0]
                self._kernel.listen()

        self._threads.begin(load, use)


class Kernel:
    """Has the kernel sync files, and tells of it on the event loop that listens.

    Raises ImportError where that isn't installed or isn't possible, SystemError when too many programs do it.
    """

    def __init__(self) -> None:
        from caio.linux_aio import Context, Operation

        self._context = Context(AT_ONCE)
        self._fsync = Operation.fsync

    def listen(self) -> None:
        """Hear of what has ended."""
        asyncio.get_running_loop().add_reader(self._context.fileno, self._collect)

    def close(self) -> None:
        """Hear no more."""
        asyncio.get_running_loop().remove_reader(self._context.fileno)

    def begin(self, sync: FileSync, done: Done, *, otherwise: Callable[[], None]) -> None:
        """Begin a sync; where the kernel won't have it, do what is to be done `otherwise`."""
        operation = self._fsync(sync.file.fd)
        operation.set_callback(partial(ended, sync, done, otherwise))
        try:
            is_begun = self._context.submit(operation) == 1  # pyright: ignore[reportUnknownMemberType]
        except (OverflowError, ValueError, SystemError) as error:  # so caio tells that the kernel refuses
            log.debug("a sync is left to a thread: %s", error)
            is_begun = False
        if not is_begun:
            sync.give_up()
            otherwise()

    def _collect(self) -> None:
        with suppress(BlockingIOError):
            self._context.poll()
        while self._context.process_events(AT_ONCE) == AT_ONCE:
            pass


def ended(sync: FileSync, done: Done, otherwise: Callable[[], None], result: int) -> None:
    """Tell how a sync ended; `result` is 0, or a negative errno in the 64 bits of a number without sign."""
    code = -result % (1 << 64)
    if code == EINVAL:  # a file system that syncs only while one waits
        sync.give_up()
        otherwise()
        return
    error = OSError(code, os.strerror(code)) if code else None
    asyncio.get_running_loop().call_soon(done, outcome(partial(sync.end, error)))
