"""Many sessions and turns in one process, some of them aborted: what it holds on to doesn't grow."""

import gc
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import msgspec
from anyio.abc import TaskGroup

from tests.cases.wired import WireClient
from tests.conftest import running_children
from turnwright.engine.journal.off_loop import MOST_THREADS, THREAD_NAME
from turnwright.engine.models.endpoint import Fixed
from turnwright.engine.runtime import Runtime
from turnwright.protocol.messages import Assistant, Reply, ToolCall, User
from turnwright.providers.base import ModelInfo, ModelRequest, Progress
from turnwright.providers.transport import DIRECT, Route
from turnwright.rpc.transport import memory_pair
from turnwright.server.serve import serve_transport
from turnwright.server.settings import Settings
from turnwright.server.start import started

SESSIONS = 1_000
TURNS_OF_A_SESSION = 6
"""Of one that isn't aborted."""
WARM = 0.2
"""The share of the sessions after which is measured first: by then the process has all that it keeps."""
LIVE = 50
IDLE_SECONDS = 5.0
ENVIRONMENT = {"PATH": "/bin:/usr/bin"}
MOST_KILOBYTES = 1024
"""Memory that a thousand turns may add."""
FEWEST_TURNS = 1_000
"""Of fewer, what they add is not judged: an allocator takes memory in pieces that are big beside that."""
FEWEST_SESSIONS = 50
"""With fewer, not all that a process keeps is there when it is measured first."""
MOST_IDLE = 0.005
"""The share of a processor that sessions which do nothing may take."""


class Held(NamedTuple):
    """What a process holds: open files, threads, children, kilobytes of memory.

    Of the threads that sync, as many as may ever be count at any time: they come when they are needed first.
    """

    files: int
    threads: int
    children: int
    kilobytes: int

    @classmethod
    def now(cls) -> "Held":
        gc.collect()
        pages = Path("/proc/self/statm").read_text("ascii").split()[1]
        files = sum(1 for _ in Path("/proc/self/fd").iterdir())
        syncing = sum(thread.name == THREAD_NAME for thread in threading.enumerate())
        threads = threading.active_count() - syncing + max(syncing, MOST_THREADS)
        return cls(files, threads, len(running_children()), int(pages) * 4)


class Soaked(NamedTuple):
    """What it came to; `odd` counts sessions without a start and an end of each turn, and one idle."""

    sessions: int
    turns: int
    aborts: int
    odd: int
    before: Held
    after: Held
    turns_between: int
    idle: float

    @property
    def kilobytes(self) -> float:
        """What a thousand turns added."""
        return (self.after.kilobytes - self.before.kilobytes) / self.turns_between * 1000

    @property
    def is_too_much(self) -> bool:
        """Whether the memory grows, where there were turns enough to tell."""
        return self.turns_between >= FEWEST_TURNS and self.kilobytes > MOST_KILOBYTES

    @property
    def grown(self) -> list[str]:
        """What there is more of than before."""
        names = ("files", "threads", "children")
        return [name for name in names if getattr(self.after, name) > getattr(self.before, name)]

    def __str__(self) -> str:
        grown = f"more {' and '.join(self.grown)}" if self.grown else "no more files, threads, children"
        memory = f"{self.kilobytes:.0f} kB more for each 1,000 turns"
        if self.turns_between < FEWEST_TURNS:
            memory = f"{self.turns_between} turns are too few to tell whether memory grows"
        return f"{self.turns} turns, {self.aborts} aborts: {grown}; {memory}; idle {self.idle:.2%}"


class Steady:
    """A model that calls a tool in each turn of a prompt but the last; the prompt says which."""

    def __init__(self) -> None:
        self.requests = 0

    async def respond(self, request: ModelRequest, progress: Progress) -> Reply:
        await progress.ready()
        progress.sent()
        self.requests += 1
        said = next(message for message in request.messages if isinstance(message, User))
        done = sum(isinstance(message, Assistant) for message in request.messages)
        progress.text("Well.")
        if done >= TURNS_OF_A_SESSION - 1:
            return Reply("Done.")
        name, _, arguments = str(said.content).rpartition("\n")[2].partition(" ")
        return Reply("Well.", (ToolCall(f"call-{done}", name, arguments),))

    async def models(self, route: Route = DIRECT) -> list[ModelInfo]:
        return [ModelInfo("steady", "Steady")]

    async def aclose(self) -> None:
        pass


PROMPTS = (
    ('bash {"command":"sleep 60","description":"wait"}', "tool.execution_start"),
    ("app {}", "external_tool.requested"),
    *[('view {"path":"/etc/hostname"}', None)] * 8,
)
"""What is asked, and the event at which it is aborted."""


class Soak:
    """A server in this process, and clients that come, work and go."""

    def __init__(self, runtime: Runtime, settings: Settings, tasks: TaskGroup) -> None:
        self.aborts = 0
        self.odd = 0
        self._runtime = runtime
        self._settings = settings
        self._tasks = tasks

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[WireClient]:
        """A client on a connection of its own."""
        ours, theirs = memory_pair()
        self._tasks.start_soon(serve_transport, self._runtime, self._settings, theirs, "soak")
        client = WireClient(ours)
        self._tasks.start_soon(client.peer.run)
        yield client
        client.peer.close()

    async def session(self, number: int) -> None:
        """One session from its beginning to its end."""
        prompt, aborted_at = PROMPTS[number % len(PROMPTS)]
        async with self.client() as client:
            session = await opened(client)
            await client.call("session.send", sessionId=session, prompt=prompt)
            if aborted_at is not None:
                await client.until(aborted_at)
                await client.call("session.abort", sessionId=session)
                self.aborts += 1
            await client.until("session.idle")
            await client.call("session.destroy", sessionId=session)
            turns = 1 if aborted_at else TURNS_OF_A_SESSION
            seen = [client.types.count(f"assistant.turn_{which}") for which in ("start", "end")]
            self.odd += seen != [turns, turns] or client.types.count("session.idle") != 1

    async def idle(self) -> float:
        """The share of a processor that live sessions take which have nothing to do."""
        async with self.client() as client:
            sessions = [await opened(client) for _ in range(LIVE)]
            await anyio.sleep(0.5)
            began, used = time.monotonic(), time.process_time()
            await anyio.sleep(IDLE_SECONDS)
            share = (time.process_time() - used) / (time.monotonic() - began)
            for session in sessions:
                await client.call("session.destroy", sessionId=session)
        return share


async def opened(client: WireClient) -> str:
    """A new session in which everything is allowed."""
    fields: dict[str, Any] = {
        "workingDirectory": "/",
        "tools": [{"name": "app", "description": "The app's", "skipPermission": True}],
        "allowTools": ["shell(sleep)", "read"],
    }
    created = await client.call("session.create", **fields)
    session = created["sessionId"]
    await client.call("session.permissions.setApproveAll", sessionId=session, enabled=True)
    return session


async def soak(home: Path, sessions: int, *, idle: bool) -> Soaked:
    """Go through so many sessions; with `idle` then measure what doing nothing costs."""
    model = Steady()
    settings = Settings(home)
    endpoints = Fixed(model, "steady")
    async with (
        started(settings, endpoints=endpoints, environment=ENVIRONMENT) as runtime,
        anyio.create_task_group() as tasks,
    ):
        run = Soak(runtime, settings, tasks)
        warm = int(sessions * WARM)
        for number in range(warm):
            await run.session(number)
        before, turns = Held.now(), model.requests
        for number in range(warm, sessions):
            await run.session(number)
        after, between = Held.now(), model.requests - turns
        share = await run.idle() if idle else 0.0
        tasks.cancel_scope.cancel()
        return Soaked(sessions, model.requests, run.aborts, run.odd, before, after, between, share)
    raise AssertionError("the runtime swallowed a cancellation")


def in_a_process(home: Path, sessions: int) -> Soaked:
    """Do that in a process of its own."""
    command = [sys.executable, "-m", __name__, str(home), str(sessions)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=1200)
    return msgspec.json.decode(done.stdout, type=Soaked)


if __name__ == "__main__":
    found = anyio.run(lambda: soak(Path(sys.argv[1]), int(sys.argv[2]), idle=True))
    sys.stdout.buffer.write(msgspec.json.encode(found))
