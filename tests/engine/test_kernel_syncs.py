"""Syncs by the kernel: in use where it can, and where it can't, threads do the same."""

import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from turnwright.engine.journal.kernel_syncs import Kernel, KernelSyncs, ended
from turnwright.engine.journal.log_sync import LogSync
from turnwright.engine.journal.off_loop import Threads
from turnwright.errors import StoreError
from turnwright.store.descriptor import Descriptor
from turnwright.store.disk import Disk
from turnwright.store.file_sync import FileSync
from turnwright.store.jsonl import JsonlStore

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux syncs files so"),
]


class Counting(Disk):
    """The machine's disk, which counts what Python syncs itself."""

    def __init__(self) -> None:
        self.syncs = 0

    def sync(self, fd: int) -> None:
        super().sync(fd)
        self.syncs += 1


class Journaled:
    """A log that is synced as a journal does it."""

    def __init__(self, folder: Path) -> None:
        self.disk = Counting()
        self.log = JsonlStore(folder / "session-state", self.disk).create("s")
        self.log.hold()
        self.syncs = KernelSyncs(Threads())

    async def sync(self) -> StoreError | None:
        """Append a line and sync it; what the disk said."""
        said: list[StoreError | None] = []
        is_done = anyio.Event()

        def done(failure: StoreError | None) -> None:
            said.append(failure)
            is_done.set()

        self.log.append(b"{}")
        self.syncs.begin(LogSync(lambda: self.log), done)
        await is_done.wait()
        return said[0]

    async def is_synced_by_kernel(self) -> bool:
        """Sync, and see who did."""
        before = self.disk.syncs
        assert await self.sync() is None
        return self.disk.syncs == before


@pytest.fixture
def journaled(tmp_path: Path) -> Iterator[Journaled]:
    journaled = Journaled(tmp_path)
    yield journaled
    journaled.log.close()


async def test_a_log_that_is_synced_often_is_synced_by_the_kernel(journaled: Journaled) -> None:
    assert not await journaled.is_synced_by_kernel()
    with anyio.fail_after(10):
        while not await journaled.is_synced_by_kernel():
            pass
    assert await journaled.is_synced_by_kernel()
    assert journaled.log.verify() is None
    journaled.syncs.close()
    assert not await journaled.is_synced_by_kernel()
    journaled.syncs.close()


async def test_threads_sync_where_nothing_is_installed_that_asks_the_kernel(
    journaled: Journaled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "caio.linux_aio", None)
    with anyio.fail_after(10):
        for _ in range(5):
            assert not await journaled.is_synced_by_kernel()
    journaled.syncs.close()


async def test_threads_sync_what_is_no_plain_file() -> None:
    reading, writing = os.pipe()
    told: list[str] = []
    sync = FileSync(Descriptor(writing), lambda error: None)
    Kernel().begin(sync, lambda failure: told.append("done"), otherwise=lambda: told.append("otherwise"))
    assert told == ["otherwise"]
    for fd in (reading, writing):
        os.close(fd)


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (0, ["ended: None", "done: None"]),
        (-errno.EIO, [f"ended: {OSError(errno.EIO, os.strerror(errno.EIO))}", "done: can't sync"]),
        (-errno.EINVAL, ["otherwise"]),
    ],
)
async def test_what_the_kernel_says_is_told(tmp_path: Path, result: int, told: list[str]) -> None:
    seen: list[str] = []

    def end(error: OSError | None) -> None:
        seen.append(f"ended: {error}")
        if error is not None:
            raise StoreError("can't sync") from error

    file = Descriptor(os.open(tmp_path, os.O_RDONLY))
    sync = FileSync(file, end)
    ended(
        sync,
        lambda failure: seen.append(f"done: {failure}"),
        lambda: seen.append("otherwise"),
        result % 2**64,
    )
    await anyio.wait_all_tasks_blocked()
    assert seen == told
    file.close()
