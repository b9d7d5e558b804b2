"""Conversations in a small window, whose model answers at length and summarises when it is asked to."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from tests.cases.scene import Scene
from tests.engine.harness import Recorder, answer_everything
from turnwright.engine.compaction import INSTRUCTIONS
from turnwright.engine.models.endpoint import Endpoint, Routing, direct
from turnwright.engine.runtime import Runtime
from turnwright.errors import ProviderError
from turnwright.protocol.messages import Reply, User
from turnwright.protocol.options import SessionOptions
from turnwright.providers.base import ModelInfo, ModelRequest
from turnwright.providers.scripted import Scripted, text
from turnwright.store.memory import MemoryStore

SUMMARY = "<overview>all of it</overview><checkpoint_title>The Long Road</checkpoint_title>"
LONG = "x" * 4000
"""A thousand tokens, as they are estimated."""


def is_summary(request: ModelRequest) -> bool:
    last = request.messages[-1]
    return isinstance(last, User) and last.content.startswith(INSTRUCTIONS)


class Talker(Scripted):
    """Answers prompts with a long text, and requests for a summary with one."""

    def __init__(self, *, first: Sequence[Reply | ProviderError] = (), reply: str = LONG) -> None:
        super().__init__([*first])
        self._reply = reply
        self.gate: anyio.Event | None = None

    async def respond(self, request: ModelRequest, progress: Any) -> Reply:
        await progress.ready()
        summary = is_summary(request)
        if summary and self.gate:
            await self.gate.wait()
        self.steps.insert(0 if summary else len(self.steps), text(SUMMARY if summary else self._reply))
        return await super().respond(request, progress)


class Window:
    """One provider with a context window of so many tokens."""

    def __init__(self, provider: Scripted, window: int) -> None:
        self._provider = provider
        self._window = window

    async def find(self, options: SessionOptions, model: str | None, routing: Routing = direct) -> Endpoint:
        return Endpoint(self._provider, "m", "m", window=self._window)

    def provider(self, options: SessionOptions, model: str | None) -> None:
        return None

    async def models(self, options: SessionOptions, routing: Routing = direct) -> list[ModelInfo]:
        return await self._provider.models()


class Conversation:
    """A session whose model has a window of so many tokens."""

    def __init__(self, tmp_path: Path, model: Scripted, window: int, **options: Any) -> None:
        self.store = MemoryStore(tmp_path / "state")
        self.model = model
        self.client = Recorder()
        self._runtime = Runtime(self.store, Window(model, window), home=tmp_path, environment={})
        self._options = SessionOptions(working_directory=str(tmp_path), **options)

    async def __aenter__(self) -> Scene:
        await self._runtime.__aenter__()
        session = await self._runtime.create(self._options, self.client)
        self.client.on_event = answer_everything(session)
        return Scene(self._runtime, session, self.client, self.model)

    async def __aexit__(self, *error: object) -> None:
        await self._runtime.__aexit__(*error)
