"""Time that passes only while everything waits, so that a run depends on nothing but its seed."""

import asyncio
import selectors
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar
from unittest.mock import patch

import anyio
import anyio.lowlevel
from anyio._backends._asyncio import CancelScope

T = TypeVar("T")

MOST_ROUNDS = 300_000
BEGINNING = 1_800_000_000.0
"""The wall clock's time when a simulation begins, in seconds since 1970."""

_numbers = count()


class Stuck(BaseException):
    """Everything waits for ever, or nothing ever waits."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer as soon as nothing is left to do."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Waiting(self))
        self.set_task_factory(_numbered)

    def time(self) -> float:
        return self.now


class _Waiting(selectors.BaseSelector):
    """Waits for no file, and not in earnest."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self._rounds = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._rounds += 1
        if timeout is None:
            raise Stuck("everything waits, and nothing will ever come")
        if self._rounds > MOST_ROUNDS:
            raise Stuck(f"after {MOST_ROUNDS} rounds of the event loop there is no end")
        self._loop.now += max(0.0, timeout)
        return []

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return selectors.SelectorKey(fileobj, -1, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return selectors.SelectorKey(fileobj, -1, 0, None)

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        raise KeyError(fileobj)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return {}


class _Task(asyncio.Task[T]):
    """A task that has the same place in a set in each run."""

    def __init__(self, coro: Coroutine[Any, Any, T], **settings: Any) -> None:
        self._place = next(_numbers)
        super().__init__(coro, **settings)

    def __hash__(self) -> int:
        return self._place


class _Scope(CancelScope):
    """A cancel scope that has the same place in a set in each run: they are cancelled in that order."""

    def __init__(self, *given: Any, **settings: Any) -> None:
        self._place = next(_numbers)
        super().__init__(*given, **settings)

    def __hash__(self) -> int:
        return self._place


def _numbered(loop: asyncio.AbstractEventLoop, coro: Any, **settings: Any) -> _Task[Any]:
    return _Task(coro, loop=loop, **settings)


class Clock:
    """The clock on the wall, which somebody may set; timers don't follow it."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self.ahead = 0.0

    def seconds(self) -> float:
        return BEGINNING + self._loop.now + self.ahead

    def nanoseconds(self) -> int:
        return int(self.seconds() * 1e9)


class Threads:
    """What would run in a thread is done at once, after `delay` seconds."""

    def __init__(self, delay: float) -> None:
        self._delay = delay

    async def run(
        self, work: Callable[..., T], *given: object, abandon_on_cancel: bool = False, **_: object
    ) -> T:
        await anyio.lowlevel.checkpoint()
        with anyio.CancelScope(shield=not abandon_on_cancel):
            await anyio.sleep(self._delay)
        return work(*given)


@contextmanager
def simulated(clock: Clock, threads: Threads) -> Generator[None]:
    """Let the whole process live by the simulated clock, and without threads."""
    with (
        patch("time.time", clock.seconds),
        patch("time.time_ns", clock.nanoseconds),
        patch("time.perf_counter", clock.seconds),
        patch("anyio.to_thread.run_sync", threads.run),
    ):
        yield


def run(main: Callable[[VirtualLoop], Awaitable[T]]) -> T:
    """Run `main` to its end on a loop of its own. Raises Stuck."""
    global _numbers
    _numbers = count()
    loop = VirtualLoop()
    with patch("anyio._backends._asyncio.CancelScope", _Scope):
        return anyio.run(main, loop, backend_options={"loop_factory": lambda: loop})
