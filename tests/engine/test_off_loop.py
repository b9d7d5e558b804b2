"""Blocking work off the event loop."""

import threading

import anyio
import pytest

from turnwright.engine.journal.off_loop import Threads
from turnwright.errors import StoreError

pytestmark = pytest.mark.anyio


async def test_work_is_done_in_a_thread_side_by_side_and_in_few_of_them() -> None:
    threads = Threads(most=2)
    meeting = threading.Barrier(2)
    seen: set[int] = set()

    def work() -> None:
        seen.add(threading.get_ident())
        meeting.wait(timeout=5)

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(threads.run, work, 5.0)
    assert len(seen) == 2
    assert await threads.run(lambda: seen.add(threading.get_ident()), 5.0)
    threads.close()
    assert len(seen) == 2
    assert threading.get_ident() not in seen


async def test_what_the_store_refuses_is_raised_where_it_is_waited_for() -> None:
    def work() -> None:
        raise StoreError("no")

    threads = Threads()
    with pytest.raises(StoreError, match=r"^no$"):
        await threads.run(work, 5.0)
    threads.close()


async def test_work_that_takes_too_long_is_not_waited_for() -> None:
    go_on = threading.Event()
    threads = Threads(most=1)
    assert not await threads.run(lambda: assert_set(go_on), 0.01)
    go_on.set()
    assert await threads.run(lambda: None, 5.0)
    threads.close()


def assert_set(event: threading.Event) -> None:
    assert event.wait(timeout=5)
