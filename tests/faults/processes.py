"""Real processes, `turnwright --headless --stdio`, are killed at random instants of a session."""

import os
import random
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path

import anyio

from tests.faults.sessions import look
from turnwright import Client, ProviderOptions
from turnwright.client.config import SessionConfig
from turnwright.errors import TurnwrightError
from turnwright.protocol.envelope import Event
from turnwright.protocol.wire import Json
from turnwright.store.jsonl import LOG_NAME
from turnwright.testing import aftermath
from turnwright.testing.aftermath import Aftermath
from turnwright.testing.chat_answers import Say, say
from turnwright.testing.chat_server import ChatServer

SESSION = "killed"
LONGEST = 0.5
"""Seconds after the session was begun: time for some prompts."""

RUNTIME = [sys.executable, "-m", "turnwright", "--headless", "--stdio"]
TELLS_ITS_PID = ["sh", "-c", 'echo $$ > "$0"; exec "$@"']


def answer(request: dict[str, Json]) -> Say:
    """Three calls side by side for a message, and a text for their results."""
    if request["messages"][-1]["role"] == "tool":
        return say("All three are fine.")
    return Say(calls=[("look", {"name": "a"}), ("view", {"path": "."}), ("look", {"name": "c"})])


async def kill_process(seed: int, home: Path) -> Aftermath:
    """Start a runtime, kill it while it talks to a client, let another one go on, and compare."""
    home.mkdir(parents=True)
    told: list[bytes] = []

    def hear(event: Event) -> None:
        told.append(b'{"method":"session.event","params":{"event":' + event.encoded + b"}}\n")

    async with ChatServer(answer) as server:
        options: SessionConfig = {"tools": [look], "working_directory": home}
        provider = ProviderOptions(server.base_url, model_id="test-model")
        command = [*TELLS_ITS_PID, str(home / "pid"), *RUNTIME]
        async with anyio.create_task_group() as tasks:
            with suppress(TurnwrightError):
                async with Client(command=command, provider=provider, home=home) as client:
                    session = await client.create_session(session_id=SESSION, **options)
                    session.on("*", hear)
                    tasks.start_soon(kill_after, random.Random(seed).uniform(0, LONGEST), home / "pid")
                    while True:
                        await session.send_and_wait("Go.")
        log = home / "session-state" / SESSION / LOG_NAME
        found = log.read_bytes()
        async with Client(command=RUNTIME, provider=provider, home=home) as client:
            session = await client.resume_session(SESSION, **options)
            reply = await session.send_and_wait("Go on.")
        faults = [] if reply.data.content == "All three are fine." else ["the next message was not answered"]
        return aftermath.look(b"".join(told), found, log.read_bytes(), server.violations, faults)


async def kill_after(seconds: float, pid: Path) -> None:
    """Kill the process whose id is in a file."""
    await anyio.sleep(seconds)
    os.kill(int(pid.read_text()), signal.SIGKILL)


async def kill_processes(seeds: range, folder: Path, side_by_side: int = 4) -> dict[int, Aftermath]:
    """Do so for each seed."""
    found: dict[int, Aftermath] = {}

    async def some(share: range) -> None:
        for seed in share:
            home = folder / str(seed)
            with anyio.fail_after(120):
                found[seed] = await kill_process(seed, home)
            shutil.rmtree(home)

    async with anyio.create_task_group() as tasks:
        for first in range(side_by_side):
            tasks.start_soon(some, seeds[first::side_by_side])
    return found


def describe(found: dict[int, Aftermath]) -> list[str]:
    """What was wrong, seed by seed."""
    return [f"seed {seed}: {fault}" for seed, after in sorted(found.items()) for fault in after.faults]
