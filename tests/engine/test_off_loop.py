"""Blocking work off the event loop."""

import asyncio
import threading

import anyio
import pytest

from turnwright.engine.journal.off_loop import Threads, Work
from turnwright.errors import StoreError

pytestmark = pytest.mark.anyio


async def done(threads: Threads, work: Work) -> StoreError | None:
    """Wait until the work is done; what it raised."""
    told: asyncio.Future[StoreError | None] = asyncio.get_running_loop().create_future()
    threads.begin(work, told.set_result)
    with anyio.fail_after(5):
        return await told


async def test_work_is_done_in_a_thread_side_by_side_and_in_few_of_them() -> None:
    threads = Threads(most=2)
    meeting = threading.Barrier(2)
    seen: set[int] = set()

    def work() -> None:
        seen.add(threading.get_ident())
        meeting.wait(timeout=5)

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(done, threads, work)
    assert len(seen) == 2
    assert await done(threads, lambda: seen.add(threading.get_ident())) is None
    threads.close()
    assert len(seen) == 2
    assert threading.get_ident() not in seen


async def test_what_the_store_refuses_is_told_to_whoever_waits_for_it() -> None:
    refused = StoreError("no")

    def work() -> None:
        raise refused

    threads = Threads()
    assert await done(threads, work) is refused
    threads.close()


async def test_work_is_begun_while_the_event_loop_is_busy() -> None:
    begun = threading.Event()
    threads = Threads()
    threads.begin(begun.set, lambda failure: None)
    assert begun.wait(timeout=5)
    threads.close()


async def test_work_that_comes_after_the_close_is_done_all_the_same() -> None:
    threads = Threads(most=1)
    for _ in range(20):
        assert await done(threads, lambda: None) is None
        threads.close()


@pytest.mark.parametrize("given", [0, 1])
async def test_work_is_done_with_the_threads_that_the_system_gives_and_without_any(
    monkeypatch: pytest.MonkeyPatch, given: int
) -> None:
    def start_few(thread: threading.Thread) -> None:
        if len(started) == given:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    started: list[threading.Thread] = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", start_few)
    threads = Threads()
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(done, threads, lambda: None)
    assert len(started) == given
    monkeypatch.undo()
    assert await done(threads, lambda: None) is None
    threads.close()
