"""A run: processes that come and go, apps, a model, a disk and a clock, and the faults of one seed."""

import logging
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import anyio
from anyio.abc import TaskGroup

from tests.simulation.app import SESSION, App
from tests.simulation.clock import Clock, Threads, VirtualLoop
from tests.simulation.disk import QUICK
from tests.simulation.faults import Faults
from tests.simulation.model import Model
from tests.simulation.news import News
from tests.simulation.process import STORE, Process
from tests.simulation.trace import Trace
from turnwright.errors import StoreError
from turnwright.protocol import wire
from turnwright.store.jsonl import LOG_NAME

LONGEST = 3 * 3600.0
"""Simulated seconds that a run may last."""
CALM = 700.0
"""Seconds after which, without faults, nothing is left to wait for."""
MOST_ACTIONS = 6
DOWN = (0.1, 5.0)
PATIENCE = 20.0
FULL = (0.5, 10.0)
JUMPS = (-86_400.0, 86_400.0)


class World:
    """Everything of one run. `play` runs it; afterwards the checks look at what is left."""

    def __init__(self, seed: int, home: Path, loop: VirtualLoop) -> None:
        self.home = home
        self.log_file = home / STORE / SESSION / LOG_NAME
        self.trace = Trace(loop)
        self.faults = Faults(seed, self.trace)
        self.clock = Clock(loop)
        self.threads = Threads(QUICK)
        self.chance = Random(f"{seed} world")
        self.model = Model(seed, self.faults, self.trace)
        self.processes: list[Process] = []
        self.apps = [App("app", seed, self)]
        if self.chance.random() < 0.3:
            self.apps.append(App("other app", seed, self))
        self.writer = App("writer", seed, self)
        self.has_hooks = self.chance.random() < 0.4
        self.idle_timeout = self.chance.choice((None, None, 2.0, 20.0))
        self.is_created = False
        self.cleared = False
        self.errors: list[str] = []
        self.tasks: TaskGroup
        self._main: Process | None = None
        self._boots = News()
        loop.set_exception_handler(self._complain)
        wire.chance.seed(seed)

    async def play(self) -> None:
        """Let the apps act while things go wrong; then let everything settle, and end in order."""
        with anyio.fail_after(LONGEST):
            async with anyio.create_task_group() as self.tasks:
                keeper = anyio.CancelScope()
                self.tasks.start_soon(self._keep_up, keeper)
                async with anyio.create_task_group() as acting:
                    for app in self.apps:
                        acting.start_soon(app.play, self.chance.randint(1, MOST_ACTIONS))
                    for when, kind in self.faults.plan():
                        acting.start_soon(self._strike, when, kind)
                await self._settle()
                keeper.cancel()
                await (await self.process()).stop()
                self.tasks.cancel_scope.cancel()

    async def process(self) -> Process:
        """The process that serves now, as soon as one does."""
        while self._main is None or not self._main.is_up:
            await self._boots.wait()
        return self._main

    async def _keep_up(self, scope: anyio.CancelScope) -> None:
        """Start a process, and another one whenever it has died."""
        with scope:
            while True:
                self._main = await self._boot(self._dies_at())
                self._boots.tell()
                await self._main.over.wait()
                await anyio.sleep(self.chance.uniform(*DOWN))

    def _dies_at(self) -> int:
        """The write in which a process dies."""
        if not self.faults.strikes("crash", "in a write to come", 0.5):
            return -1
        return int(self.faults.between(0, 60))

    async def _boot(self, dies_at: int = -1) -> Process:
        number = len(self.processes)
        process = Process(number, self.home, self.model, self.faults, self.trace, self.idle_timeout)
        process.disk.dies_at = dies_at
        self.processes.append(process)
        await self.tasks.start(process.run)
        return process

    # What goes wrong at a time

    async def _strike(self, when: float, kind: str) -> None:
        await anyio.sleep(when)
        await self._moment()
        process, chance = await self.process(), self.chance
        self.faults.note(kind, "now")
        match kind:
            case "crash":
                process.crash()
            case "cancel":
                for session in tuple(process.runtime.sessions.values()):
                    with suppress(StoreError):
                        session.abort()
            case "full":
                process.disk.is_full = True
                await anyio.sleep(chance.uniform(*FULL))
                process.disk.is_full = False
            case "disconnect":
                app = chance.choice(self.apps)
                await app.leave()
            case "clock jump":
                self.clock.ahead += chance.uniform(*JUMPS)
            case _:
                await self._write_too()

    async def _moment(self) -> None:
        """Wait for a moment at which a run is in hand, mostly; they are short."""
        with anyio.move_on_after(self.chance.choice((0, PATIENCE, PATIENCE))):
            while not (await self.process()).is_busy:  # noqa: ASYNC110  any of its sessions, and it may die
                await anyio.sleep(self.chance.uniform(0, 0.5))
            await anyio.sleep(self.chance.uniform(0, 1))

    async def _write_too(self) -> None:
        """Another process takes the session up, where it is let, and writes into its log."""
        if not self.is_created:
            return
        process = await self._boot()
        app = self.writer
        await app.connect(process)
        with anyio.move_on_after(CALM):
            await app.insist(app.ask, attempts=3)
        await app.leave()
        await process.stop()

    # How it ends

    async def _settle(self) -> None:
        """Nothing goes wrong any more: all that is begun ends, and one more message is answered."""
        self.faults.is_over = True
        self.trace.add("world", "settles")
        app = self.apps[0]
        for process in self.processes:
            process.disk.is_full = False
            process.disk.dies_at = -1
        with anyio.fail_after(20 * CALM):
            await app.insist(self._end_runs)
        with anyio.fail_after(20 * CALM):
            await app.insist(self._last_message)
        await anyio.sleep(CALM)

    async def _end_runs(self, connection: Any) -> None:
        with anyio.move_on_after(CALM):
            await self._rest(connection)
            return
        self.trace.add("world", "aborts what waits for an answer")
        await connection.call("session.abort", sessionId=SESSION)
        with anyio.fail_after(CALM):
            await self._rest(connection)

    async def _rest(self, connection: Any) -> None:
        await connection.call("session.mode.get", sessionId=SESSION)  # refused where the session isn't live
        session = connection.process.runtime.find(SESSION)
        while session.is_busy:
            await connection.news()

    async def _last_message(self, connection: Any) -> None:
        app = self.apps[0]
        idles = connection.idles
        await app.send(connection)
        with anyio.fail_after(CALM):
            while connection.idles == idles:
                await connection.news()

    # What nobody should hear

    def _complain(self, loop: object, context: dict[str, Any]) -> None:
        self.errors.append(f"{context.get('message')}: {context.get('exception')!r}")


class Complaints(logging.Handler):
    """Keeps what is logged as an error: a bug, unless the simulation put it there."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        cause = record.exc_info[1] if record.exc_info else None
        self.texts.append(f"{record.name}: {record.getMessage()} ({cause!r})")
