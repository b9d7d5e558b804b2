"""A disk that fails: an error and an idle, nothing half-written, and then the session goes on."""

from pathlib import Path

import anyio
import pytest

from tests.engine.harness import Recorder, options, running
from tests.faults.failing_disk import FAULTS, FailingDisk, go_through
from turnwright.errors import StoreError
from turnwright.providers.scripted import Scripted
from turnwright.store.jsonl import LOG_NAME, JsonlStore

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("error", FAULTS)
async def test_when_an_operation_fails_nothing_is_lost_and_the_session_goes_on(
    tmp_path: Path, error: str
) -> None:
    """Every operation, and several in a row, are tried by scripts/faults; here, each seventh one."""
    with anyio.fail_after(50):
        operations = (await go_through(tmp_path / "whole", FailingDisk(FAULTS[error], -1))).operations
        for number in range(len(error) % 7, operations, 7):
            disk = FailingDisk(FAULTS[error], number)
            outcome = await go_through(tmp_path / str(number), disk)
            assert (number, outcome.faults) == (number, [])


async def test_a_session_that_could_not_be_begun_leaves_nothing_and_can_be_begun_later(
    tmp_path: Path,
) -> None:
    disk = FailingDisk(FAULTS["EMFILE"], 2, 50)
    store = JsonlStore(tmp_path / "session-state", disk)
    with anyio.fail_after(10):
        async with running(Scripted(), tmp_path, store) as runtime:
            with pytest.raises(StoreError, match="Too many open files"):
                await runtime.create(options(tmp_path, session_id="s"), Recorder())
            assert not store.folder("s").exists()
            disk.mend()
            await runtime.create(options(tmp_path, session_id="s"), Recorder())


async def test_a_sync_that_failed_is_made_good_by_writing_the_log_anew(tmp_path: Path) -> None:
    """What a disk could not sync once may be gone, though the next sync succeeds."""
    store = JsonlStore(tmp_path)
    log = store.create("s")
    log.append(b"1")
    before = (tmp_path / "s" / LOG_NAME).stat().st_ino
    broken = JsonlStore(tmp_path, FailingDisk(FAULTS["EIO"], 1)).open("s")
    with pytest.raises(StoreError, match="can't sync"):
        broken.begin_sync()()
    broken.append(b"2")
    broken.begin_sync()()
    assert (tmp_path / "s" / LOG_NAME).read_bytes() == b"1\n2\n"
    assert (tmp_path / "s" / LOG_NAME).stat().st_ino != before
    broken.close()
    log.close()
