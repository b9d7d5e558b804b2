"""The points at which a runtime can be killed: each operation on the disk, and each step of each task."""

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, NoReturn

from turnwright.store.disk import Disk


class Point(NamedTuple):
    """Before, within or after the so manieth operation on the disk, or before the so manieth step, from 0.

    A step is what a task does from one await to the next. Within a write half of its bytes are written.
    """

    kind: Literal["before", "within", "after", "step"]
    number: int

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


class Passed(NamedTuple):
    """How many points a process went by."""

    operations: int
    writes: int
    steps: int


def die() -> NoReturn:
    """End this process as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a process that was killed goes on")


class KillPoints:
    """Counts the points that this process goes by, and kills it at `point`, if there is one."""

    def __init__(self, point: Point | None = None) -> None:
        self._point = point
        self._operations = self._writes = self._steps = 0

    @property
    def passed(self) -> Passed:
        """How many there were so far."""
        return Passed(self._operations, self._writes, self._steps)

    def watch_tasks(self) -> None:
        """Count the steps of every task that starts from here on in the running event loop."""
        asyncio.get_running_loop().set_task_factory(self._task)

    def step(self) -> None:
        """A task is about to take a step."""
        number, self._steps = self._steps, self._steps + 1
        if self._point == ("step", number):
            die()

    def operation(self, act: Callable[[], Any]) -> Any:
        """Do one operation on the disk."""
        number, self._operations = self._operations, self._operations + 1
        if self._point == ("before", number):
            die()
        done = act()
        if self._point == ("after", number):
            die()
        return done

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Write once, unless it is cut short."""
        number, self._writes = self._writes, self._writes + 1
        if self._point == ("within", number):
            os.write(fd, data[: len(data) // 2])
            die()
        return self.operation(lambda: os.write(fd, data))

    def _task(
        self, loop: asyncio.AbstractEventLoop, coro: Any, *, context: Context | None = None, **more: Any
    ) -> asyncio.Task[Any]:
        return asyncio.Task(_Stepped(coro, self.step), loop=loop, context=context, **more)


class WatchedDisk(Disk):
    """The machine's own disk, whose operations are points."""

    def __init__(self, points: KillPoints) -> None:
        self._points = points

    def open(self, path: Path, flags: int) -> int:
        return self._points.operation(lambda: Disk.open(self, path, flags))

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return self._points.write(fd, data)

    def truncate(self, fd: int, size: int) -> None:
        self._points.operation(lambda: Disk.truncate(self, fd, size))

    def sync(self, fd: int) -> None:
        self._points.operation(lambda: Disk.sync(self, fd))

    def replace(self, source: Path, target: Path) -> None:
        self._points.operation(lambda: Disk.replace(self, source, target))

    def make_folder(self, path: Path) -> None:
        self._points.operation(lambda: Disk.make_folder(self, path))


class _Stepped(Coroutine[Any, Any, Any]):
    """A coroutine that says when it takes a step."""

    def __init__(self, inner: Any, step: Callable[[], None]) -> None:
        self._inner = inner
        self._step = step

    def send(self, value: Any, /) -> Any:
        self._step()
        return self._inner.send(value)

    def throw(self, kind: Any, value: Any = None, trace: TracebackType | None = None, /) -> Any:
        self._step()
        return self._inner.throw(kind if value is None else value)

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._inner.__await__()

    def __getattr__(self, name: str) -> Any:  # what `inspect` asks of a coroutine
        return getattr(self._inner, name)
