"""Syncs by the kernel's own queue, and by threads where it can't."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from turnwright.engine.journal.kernel import PAUSE, Kernel, signed
from turnwright.errors import StoreError
from turnwright.store.disk import Disk
from turnwright.store.jsonl_log import LOG_NAME, JsonlLog
from turnwright.store.memory import MemoryLog

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a queue"),
]


class CountedDisk(Disk):
    """A disk that counts the syncs that were not the kernel's own."""

    syncs = 0

    def sync(self, fd: int) -> None:
        self.syncs += 1
        super().sync(fd)


class Lent(MemoryLog):
    """A log that lends a descriptor, and keeps the error that came of it."""

    def __init__(self, fd: int) -> None:
        super().__init__()
        self._lent = fd
        self.ended = 0

    @contextmanager
    def syncing(self) -> Generator[int]:  # pyright: ignore[reportIncompatibleMethodOverride]
        try:
            yield self._lent
        except OSError as error:
            raise StoreError(f"can't sync: {error.strerror}") from error
        finally:
            self.ended += 1


async def rested(kernel: Kernel) -> Kernel:
    kernel.rest()
    with anyio.fail_after(20):
        await kernel.opened.wait()
    return kernel


async def test_a_log_is_brought_to_the_disk_by_a_thread_at_first_and_by_the_kernel_after_a_run(
    tmp_path: Path,
) -> None:
    disk, kernel = CountedDisk(), Kernel()
    log = JsonlLog(tmp_path / LOG_NAME, disk, new=True)
    log.hold()
    log.append(b'{"n":1}')
    assert await kernel.sync(log, 5.0)
    await rested(kernel)
    by_thread = disk.syncs
    assert by_thread
    log.append(b'{"n":2}')
    assert await kernel.sync(log, 5.0)
    assert disk.syncs == by_thread
    sums = (tmp_path / f"{LOG_NAME}.sums").read_text().split("\n")
    assert [int(line.split()[0], 16) for line in sums if line] == [8, 16]
    kernel.close()
    log.append(b'{"n":3}')
    assert await kernel.sync(log, 5.0)
    assert disk.syncs == by_thread + 1
    kernel.close()
    log.close()


async def test_syncs_of_many_logs_go_on_side_by_side(tmp_path: Path) -> None:
    kernel = await rested(Kernel())
    files = [os.open(tmp_path / str(number), os.O_CREAT | os.O_WRONLY) for number in range(300)]
    logs = [Lent(fd) for fd in files]
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            for log in logs:
                group.start_soon(kernel.sync, log, 10.0)
    assert {log.ended for log in logs} == {1}
    kernel.close()
    for fd in files:
        os.close(fd)


async def test_what_the_kernel_does_not_take_a_thread_tries_and_its_error_is_told() -> None:
    kernel = await rested(Kernel())
    reader, writer = os.pipe()
    log = Lent(writer)
    with pytest.raises(StoreError, match=r"^can't sync: Invalid argument$"):
        await kernel.sync(log, 5.0)
    assert log.ended == 1
    kernel.close()
    os.close(reader)
    os.close(writer)


async def test_a_queue_that_opens_when_nobody_needs_it_any_more_is_left_alone() -> None:
    kernel = Kernel()
    kernel.rest()
    kernel.close()
    with anyio.move_on_after(2 * PAUSE):
        await kernel.opened.wait()
    assert not kernel.opened.is_set()


@pytest.mark.parametrize(("raw", "result"), [(0, 0), (2**64 - 5, -5), (2**63 - 1, 2**63 - 1)])
def test_an_error_of_the_kernel_is_a_negative_number(raw: int, result: int) -> None:
    assert signed(raw) == result
