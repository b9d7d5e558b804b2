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


async def test_all_that_ends_while_the_loop_is_busy_is_told_at_once_and_in_order() -> None:
    threads = Threads(most=1)
    told: list[int] = []
    carried_out = threading.Event()

    def told_of(number: int) -> None:
        told.append(number)
        asyncio.get_running_loop().call_soon(told.append, -1)

    for number in range(3):
        threads.begin(lambda: None, lambda failure, number=number: told_of(number))
    threads.begin(carried_out.set, lambda failure: None)
    assert carried_out.wait(timeout=5)
    await anyio.lowlevel.checkpoint()
    await done(threads, lambda: None)
    assert told == [0, 1, 2, -1, -1, -1]
    threads.close()


async def test_one_who_raises_when_told_keeps_nothing_from_the_others() -> None:
    threads = Threads(most=1)
    loop = asyncio.get_running_loop()
    raised: list[object] = []
    loop.set_exception_handler(lambda loop, context: raised.append(context.get("exception")))
    bug = ZeroDivisionError()

    def refuse(failure: StoreError | None) -> None:
        raise bug

    carried_out = threading.Event()
    others = [loop.create_future() for _ in range(2)]
    threads.begin(lambda: None, refuse)
    for other in others:
        threads.begin(lambda: None, other.set_result)
    threads.begin(carried_out.set, lambda failure: None)
    assert carried_out.wait(timeout=5)
    with anyio.fail_after(5):
        assert await asyncio.gather(*others) == [None, None]
    assert raised == [bug]
    threads.close()
