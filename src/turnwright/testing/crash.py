"""A runtime is killed in the middle of a session, and another one goes on: is anything lost?

Each run is a process of its own, forked from this one, in which no event loop may be running. POSIX only.
"""

import logging
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import msgspec
from anyio.abc import TaskGroup

from turnwright.client.client import Client
from turnwright.client.config import SessionConfig
from turnwright.engine.models.endpoint import Fixed
from turnwright.errors import SessionNotFound
from turnwright.protocol.options import Durability
from turnwright.providers.scripted import Step, text
from turnwright.rpc.transport import Transport, memory_pair
from turnwright.server.serve import serve_transport
from turnwright.server.settings import Settings
from turnwright.server.start import started
from turnwright.store.disk import Disk
from turnwright.store.jsonl import LOG_NAME
from turnwright.testing.aftermath import Aftermath, look
from turnwright.testing.kill_points import KillPoints, Passed, Point, WatchedDisk
from turnwright.testing.strict_model import StrictModel

SESSION = "killed"
"""The id of every session under test."""

SECONDS = 30.0
"""No run takes longer: one that does counts as hung."""


@dataclass(frozen=True)
class Scenario:
    """A session to be killed: the model's replies, what the app does, and the options that it gives.

    `play` opens the session SESSION with `options()`, which are those of the resume too.
    """

    name: str
    replies: Callable[[], Sequence[Step]]
    play: Callable[[Client, SessionConfig], Awaitable[None]]
    options: Callable[[], SessionConfig] = field(default=SessionConfig)
    durability: Durability = "turn"


def count_points(scenario: Scenario, home: Path) -> tuple[Passed, float]:
    """Play a scenario to its end; the points that it goes by, and how many seconds it takes.

    It is played once in this process before, so that the copies of it have at hand what a first run imports.
    """
    _warm_up(scenario)
    started_at = time.monotonic()
    _wait(_play(scenario, home, KillPoints()))
    return msgspec.json.decode((home / "passed").read_bytes(), type=Passed), time.monotonic() - started_at


def points(passed: Passed) -> list[Point]:
    """All points, where a process goes by so many."""
    return [
        *(Point("before", number) for number in range(passed.operations)),
        *(Point("within", number) for number in range(passed.writes)),
        *(Point("after", number) for number in range(passed.operations)),
        *(Point("step", number) for number in range(passed.steps)),
    ]


def kill_at(scenario: Scenario, home: Path, point: Point, *, continues: bool = False) -> Aftermath:
    """Kill a runtime at a point, start another one, resume the session and send it a message.

    With `continues` what was pending goes on.
    """
    _wait(_play(scenario, home, KillPoints(point)))
    return _restart(scenario, home, continues)


def kill_after(scenario: Scenario, home: Path, seconds: float, *, continues: bool = False) -> Aftermath:
    """As `kill_at`, at an instant."""
    process = _play(scenario, home, KillPoints())
    time.sleep(seconds)
    os.kill(process, signal.SIGKILL)
    _wait(process)
    return _restart(scenario, home, continues)


def _warm_up(scenario: Scenario) -> None:
    """Play a scenario here, and see its threads end: a copy of a process has none of them."""
    others = set(threading.enumerate())
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "told").touch()
        anyio.run(_doomed, scenario, Path(folder), KillPoints())
    for thread in set(threading.enumerate()) - others:
        thread.join(SECONDS)


def _fork(work: Callable[[], object]) -> int:
    """Do something in a copy of this process, which ends with it."""
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        logging.disable(logging.CRITICAL)
        signal.alarm(round(SECONDS))  # not handled: it ends the process
        work()
        status = 0
    finally:
        if (error := sys.exception()) is not None:
            traceback.print_exception(error)
        os._exit(status)


def _play(scenario: Scenario, home: Path, points: KillPoints) -> int:
    home.mkdir(parents=True)
    (home / "told").touch(0o600)
    return _fork(lambda: anyio.run(_doomed, scenario, home, points))


def _wait(process: int) -> int:
    _, status = os.waitpid(process, 0)
    return status


async def _doomed(scenario: Scenario, home: Path, points: KillPoints) -> None:
    points.watch_tasks()
    told = os.open(home / "told", os.O_WRONLY | os.O_APPEND)
    model = StrictModel(scenario.replies())
    runtime = _Wired(home, model, scenario.durability, WatchedDisk(points), told)
    async with runtime as client:
        await scenario.play(client, {**scenario.options(), "working_directory": home})
    (home / "passed").write_bytes(msgspec.json.encode(points.passed))


def _restart(scenario: Scenario, home: Path, continues: bool) -> Aftermath:
    status = _wait(_fork(lambda: anyio.run(_survive, scenario, home, continues)))
    try:
        return msgspec.json.decode((home / "aftermath").read_bytes(), type=Aftermath)
    except FileNotFoundError:
        return Aftermath(0, 0, [f"the runtime that went on ended with status {status}"])


async def _survive(scenario: Scenario, home: Path, continues: bool) -> None:
    log = home / "session-state" / SESSION / LOG_NAME
    found = log.read_bytes() if log.exists() else b""
    model = StrictModel([text("on it goes")] * 8)
    options: SessionConfig = {**scenario.options(), "working_directory": home}
    faults: list[str] = []
    async with _Wired(home, model, scenario.durability) as client:
        try:
            session = await client.resume_session(SESSION, continue_pending_work=continues, **options)
        except SessionNotFound:
            session = await client.create_session(session_id=SESSION, **options)
        reply = await session.send_and_wait("Go on.", timeout=SECONDS)
        if reply.data.content != "on it goes":
            faults.append(f"the reply to the next message was {reply.data.content!r}")
    aftermath = look((home / "told").read_bytes(), found, log.read_bytes(), model.problems, faults)
    (home / "draft").write_bytes(msgspec.json.encode(aftermath))
    (home / "draft").replace(home / "aftermath")


class _Wired(Client):
    """A client of a runtime of its own in this process, over the wire; `told` gets what it is sent."""

    def __init__(
        self,
        home: Path,
        model: StrictModel,
        durability: Durability,
        disk: Disk | None = None,
        told: int | None = None,
    ) -> None:
        super().__init__()
        self._serving = home, model, durability, disk, told

    def _transport(self, tasks: TaskGroup) -> AbstractAsyncContextManager[Transport]:
        return _serving(tasks, *self._serving)


@asynccontextmanager
async def _serving(
    tasks: TaskGroup,
    home: Path,
    model: StrictModel,
    durability: Durability,
    disk: Disk | None,
    told: int | None,
) -> AsyncGenerator[Transport, None]:
    settings = Settings(home)
    endpoints = Fixed(model, "scripted")
    async with started(
        settings, endpoints=endpoints, durability=durability, disk=disk, environment={}
    ) as runtime:
        ours, theirs = memory_pair()
        served = theirs if told is None else _Tapped(theirs, told)
        tasks.start_soon(serve_transport, runtime, settings, served, "client")
        yield ours


class _Tapped:
    """A transport that notes what is sent, before it is: a killed process's client has seen no more."""

    def __init__(self, inner: Transport, told: int) -> None:
        self._inner = inner
        self._told = told

    async def receive(self) -> bytes | None:
        return await self._inner.receive()

    async def send(self, messages: Sequence[bytes]) -> None:
        os.write(self._told, b"".join(message + b"\n" for message in messages))
        await self._inner.send(messages)

    async def aclose(self) -> None:
        await self._inner.aclose()
