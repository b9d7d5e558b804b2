"""Syncs by the kernel's own queue: in use where it can, and where it can't, another does the same."""

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest

from turnwright.engine.journal import io_uring
from turnwright.engine.journal.io_uring import Uring
from turnwright.engine.journal.off_loop import Done, Work, inline
from turnwright.engine.journal.ring import MOST_FILES, Ring
from turnwright.errors import StoreError
from turnwright.store.descriptor import Descriptor
from turnwright.store.disk import Disk
from turnwright.store.folders import Names
from turnwright.store.jsonl import JsonlStore
from turnwright.store.syncing import Sync


def has_io_uring() -> bool:
    """Containers often keep programs from it."""
    try:
        Uring(1)
    except (ImportError, SystemError):
        return False
    return True


pytestmark = [pytest.mark.anyio, pytest.mark.skipif(not has_io_uring(), reason="there is no io_uring here")]


OPEN = Path("/proc/self/fd")


class Other:
    """The other `OffLoop`: does at once what is left to it, and counts that."""

    def __init__(self) -> None:
        self.begun = 0

    def begin(self, work: Work, done: Done) -> None:
        self.begun += 1
        inline(work, done)


@pytest.fixture
def other() -> Other:
    return Other()


@pytest.fixture
async def ring(other: Other) -> AsyncIterator[Ring]:
    ring = Ring(other.begin)
    yield ring
    with anyio.fail_after(10):
        await ring.close()


class Counting(Disk):
    """The machine's disk, which counts the folders that were opened to be synced."""

    def __init__(self) -> None:
        self.opened = 0

    def open(self, path: Path, flags: int) -> int:
        self.opened += path.is_dir()
        return super().open(path, flags)


async def told(ring: Ring, work: Work) -> StoreError | None:
    """Begin work, and return what became of it."""
    done: asyncio.Future[StoreError | None] = asyncio.get_running_loop().create_future()
    ring.begin(work, done.set_result)
    with anyio.fail_after(10):
        return await done


def nothing_follows(names: Names, failure: OSError | None) -> None:
    """Be told of a sync's end."""


def a_sync(path: Path, ended: Callable[[OSError | None], None] = lambda failure: None) -> Sync:
    file = Descriptor(os.open(path, os.O_RDWR | os.O_CREAT))
    sync = Sync(Disk(), file, Names, lambda names, failure: ended(failure))
    file.close()
    return sync


async def test_a_log_and_what_leads_to_it_are_synced_without_a_thread(
    tmp_path: Path, ring: Ring, other: Other
) -> None:
    disk = Counting()
    log = JsonlStore(tmp_path / "home" / "session-state", disk).create("s")
    log.hold()
    for line in (b"1", b"2"):
        log.append(line)
        assert await told(ring, log.begin_sync()) is None
    assert other.begun == 0
    assert disk.opened == len(["s", "session-state", "home", tmp_path])
    assert not any(each.resolve().is_relative_to(tmp_path) and each.is_dir() for each in OPEN.iterdir())
    assert log.verify() is None
    log.close()
    sums = (tmp_path / "home" / "session-state" / "s" / "events.jsonl.sums").read_bytes()
    assert [int(line.split()[0], 16) for line in sums.splitlines()] == [2, 4]


async def test_more_syncs_than_go_at_once_are_all_made_and_open_no_more_files(
    tmp_path: Path, ring: Ring
) -> None:
    disk, done = Counting(), list[StoreError | None]()
    all_over = anyio.Event()

    def one_more(failure: StoreError | None) -> None:
        done.append(failure)
        if len(done) == 3 * MOST_FILES:
            all_over.set()

    for _ in range(3 * MOST_FILES):
        ring.begin(Sync(disk, None, lambda: Names([tmp_path]), nothing_follows), one_more)
        assert disk.opened <= MOST_FILES
    with anyio.fail_after(20):
        await all_over.wait()
    assert done == [None] * 3 * MOST_FILES
    assert disk.opened == 3 * MOST_FILES


async def test_what_the_disk_refuses_is_told(tmp_path: Path, ring: Ring) -> None:
    def refuse(names: Names, failure: OSError | None) -> None:
        refused.append(failure and failure.errno)
        raise StoreError("no")

    refused: list[int | None] = []
    reading, writing = os.pipe()
    pipe = Descriptor(writing)
    failures = [
        await told(ring, Sync(Disk(), pipe, lambda: Names([tmp_path]), refuse)),
        await told(ring, Sync(Disk(), pipe, lambda: Names([tmp_path / "gone"]), refuse)),
    ]
    assert [str(failure) for failure in failures] == ["no", "no"]
    assert refused == [errno.EINVAL, errno.ENOENT]
    pipe.close()
    os.close(reading)


async def test_a_sync_of_nothing_is_over(ring: Ring) -> None:
    assert await told(ring, Sync(Disk(), None, Names, nothing_follows)) is None


async def test_work_that_is_no_plain_sync_is_done_otherwise(tmp_path: Path, ring: Ring, other: Other) -> None:
    class Careful(Disk):
        def sync(self, fd: int) -> None:
            synced.append(fd)

    synced: list[int] = []
    assert await told(ring, lambda: None) is None
    assert await told(ring, Sync(Careful(), None, lambda: Names([tmp_path]), nothing_follows)) is None
    assert other.begun == 2
    assert len(synced) == 1


async def test_all_is_done_otherwise_where_io_uring_is_missing(
    tmp_path: Path, ring: Ring, other: Other, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(io_uring, "find_spec", lambda name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    for _ in range(2):
        assert await told(ring, a_sync(tmp_path / "file")) is None
    assert other.begun == 2


async def test_what_has_begun_before_the_close_comes_to_its_end_and_the_rest_is_done_otherwise(
    tmp_path: Path, other: Other
) -> None:
    open_before = len(list(OPEN.iterdir()))
    ring, done = Ring(other.begin), list[StoreError | None]()
    for _ in range(2 * MOST_FILES):
        ring.begin(Sync(Disk(), None, lambda: Names([tmp_path]), nothing_follows), done.append)
    assert len(done) < 2 * MOST_FILES
    with anyio.fail_after(10):
        await ring.close()
    assert done == [None] * 2 * MOST_FILES
    assert other.begun == 0
    assert len(list(OPEN.iterdir())) == open_before
    assert await told(ring, a_sync(tmp_path / "file")) is None
    assert other.begun == 1


async def test_a_kernel_that_takes_no_more_leaves_all_to_the_other(
    tmp_path: Path, ring: Ring, other: Other, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Uring) -> None:
        raise SystemError(errno.EAGAIN)

    assert await told(ring, a_sync(tmp_path / "file")) is None
    monkeypatch.setattr(Uring, "submit", refuse)
    ended: list[OSError | None] = []
    assert await told(ring, a_sync(tmp_path / "file", ended.append)) is None
    assert await told(ring, a_sync(tmp_path / "file", ended.append)) is None
    assert ended == [None, None]
    assert other.begun == 2


async def test_a_sync_for_which_the_kernel_has_no_thread_is_made_otherwise(
    tmp_path: Path, ring: Ring, other: Other, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(self: Uring, fd: int, ended: Callable[[int], None]) -> None:
        asyncio.get_running_loop().call_soon(ended, -errno.ECANCELED)
        add(self, fd, lambda result: None)

    add = Uring.add
    monkeypatch.setattr(Uring, "add", cancel)
    ended: list[OSError | None] = []
    assert await told(ring, a_sync(tmp_path / "file", ended.append)) is None
    assert ended == [None]
    assert other.begun == 1


async def test_what_the_disk_refuses_is_told_though_the_kernel_had_no_thread_for_the_rest(
    tmp_path: Path, ring: Ring, other: Other, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(self: Uring, fd: int, ended: Callable[[int], None]) -> None:
        asyncio.get_running_loop().call_soon(ended, answers.pop(0))
        add(self, fd, lambda result: None)

    add = Uring.add
    monkeypatch.setattr(Uring, "add", answer)
    answers = [-errno.ECANCELED, -errno.EIO, -errno.ECANCELED, 0]
    ended: list[int | None] = []
    folders = Names([tmp_path] * len(answers))
    sync = Sync(Disk(), None, lambda: folders, lambda names, failure: ended.append(failure and failure.errno))
    assert await told(ring, sync) is None
    assert ended == [errno.EIO]
    assert other.begun == 0


async def test_a_sync_for_which_there_is_no_descriptor_waits_for_those_under_way(
    tmp_path: Path, ring: Ring
) -> None:
    class Scarce(Disk):
        def open(self, path: Path, flags: int) -> int:
            if not ended and opened:
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            opened.append(path)
            return super().open(path, flags)

    opened: list[Path] = []
    ended: list[OSError | None] = []
    disk = Scarce()

    def one(folder: Path) -> Sync:
        return Sync(disk, None, lambda: Names([folder]), lambda names, failure: ended.append(failure))

    (tmp_path / "other").mkdir()
    done: asyncio.Future[StoreError | None] = asyncio.get_running_loop().create_future()
    ring.begin(one(tmp_path), lambda failure: None)
    ring.begin(one(tmp_path / "other"), done.set_result)
    with anyio.fail_after(10):
        assert await done is None
    assert ended == [None, None]
    assert opened == [tmp_path, tmp_path / "other"]


async def test_a_sync_for_which_no_descriptor_will_come_fails(tmp_path: Path, ring: Ring) -> None:
    class Full(Disk):
        def open(self, path: Path, flags: int) -> int:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    ended: list[int | None] = []
    sync = Sync(
        Full(),
        None,
        lambda: Names([tmp_path]),
        lambda names, failure: ended.append(failure and failure.errno),
    )
    assert await told(ring, sync) is None
    assert ended == [errno.EMFILE]


async def test_one_who_raises_when_told_keeps_nothing_from_the_others(tmp_path: Path, ring: Ring) -> None:
    loop = asyncio.get_running_loop()
    raised: list[object] = []
    loop.set_exception_handler(lambda loop, context: raised.append(context.get("exception")))
    bug = ZeroDivisionError()

    def refuse(failure: StoreError | None) -> None:
        raise bug

    others = [loop.create_future() for _ in range(2)]
    ring.begin(a_sync(tmp_path / "0"), refuse)
    for number, each in enumerate(others, 1):
        ring.begin(a_sync(tmp_path / str(number)), each.set_result)
    with anyio.fail_after(10):
        assert await asyncio.gather(*others) == [None, None]
    assert raised == [bug]


async def test_the_part_of_caio_that_is_loaded_alone_does_not_disturb_the_package(
    ring: Ring, tmp_path: Path
) -> None:
    assert await told(ring, a_sync(tmp_path / "file")) is None
    import caio

    async with caio.AsyncioContext() as context:
        file = os.open(tmp_path / "file", os.O_RDWR)
        with anyio.fail_after(10):
            assert await context.write(b"text", file, 0) == 4
        os.close(file)
    assert await told(ring, a_sync(tmp_path / "file")) is None
