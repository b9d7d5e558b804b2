"""Runtimes for the SDK's tests: in this process, as a child, and over TCP."""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.streams.text import TextReceiveStream

from turnwright import Client, ProviderOptions, Session
from turnwright.protocol.envelope import Event
from turnwright.protocol.messages import Reply
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import Scripted

SECONDS = 40.0
COMMAND = [str(Path(sys.executable).with_name("turnwright")), "--headless"]
STDIO = [*COMMAND, "--stdio"]


@asynccontextmanager
async def in_process(model: Scripted, home: Path) -> AsyncGenerator[Client, None]:
    """A client with a runtime in this process, over a scripted model; all is over in forty seconds."""
    with anyio.fail_after(SECONDS):
        async with Client(provider=model, model="scripted", home=home) as client:
            yield client
    assert model.problems == []


@asynccontextmanager
async def over_tcp(home: Path, token: str | None = None) -> AsyncGenerator[str, None]:
    """The address of a runtime that listens on loopback."""
    environment = {**os.environ, "COPILOT_HOME": str(home), "COPILOT_CONNECTION_TOKEN": token or ""}
    async with await anyio.open_process(COMMAND, env=environment, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            said = ""
            with anyio.fail_after(SECONDS):
                async for piece in TextReceiveStream(process.stdout):
                    said += piece
                    if said.endswith("\n"):
                        break
            yield f"127.0.0.1:{int(said.rpartition(' ')[2])}"
        finally:
            process.terminate()
        with anyio.fail_after(SECONDS):
            assert await process.wait() == 0


def provider(base_url: str) -> ProviderOptions:
    """The options for a chat server under test."""
    return ProviderOptions(base_url, model_id="test-model")


class Gate:
    """A step of a script that waits until it is opened."""

    def __init__(self, reply: Reply) -> None:
        self.reached = anyio.Event()
        self.opened = anyio.Event()
        self._reply = reply

    async def __call__(self, request: ModelRequest) -> Reply:
        self.reached.set()
        await self.opened.wait()
        return self._reply


class Heard:
    """The events of a session, in order."""

    def __init__(self, session: Session) -> None:
        self.events: list[Event] = []
        self._news = anyio.Event()
        session.on("*", self.take)

    @property
    def types(self) -> list[str]:
        return [event.type for event in self.events]

    async def until(self, type: str, times: int = 1) -> Event:
        """Wait for the event of a type, or the so manyeth of that type."""
        while self.types.count(type) < times:
            await self._news.wait()
        return [event for event in self.events if event.type == type][times - 1]

    def take(self, event: Event) -> None:
        """Hear of an event."""
        self.events.append(event)
        news, self._news = self._news, anyio.Event()
        news.set()
