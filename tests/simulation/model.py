"""A model whose replies are drawn from the seed; it counts what it is asked, and finds fault with it."""

from random import Random
from typing import Any

import anyio
import msgspec

from tests.simulation.faults import Faults
from tests.simulation.trace import Trace
from turnwright.errors import ProviderError
from turnwright.protocol import wire
from turnwright.protocol.messages import Reply, ToolCall, Usage
from turnwright.providers.base import ModelInfo, ModelRequest, Progress
from turnwright.providers.scripted import check_history
from turnwright.providers.transport import DIRECT, Route

NAME = "simulated"
TOOLS = ("local", "local", "app", "app", "asks", "ask_user", "nonesuch")
GARBAGE = ("[]", '{"x', "null", '"\\ud800"', "\u0000")
MOST_CALLS = 3
WORDS = ("yes", "no", "assistant.turn_start", "ünïcødé", "{}", "\u2028", "done")
NEVER = 600.0


class Model:
    """What all processes of a run have asked, and what was wrong with it."""

    def __init__(self, seed: int, faults: Faults, trace: Trace) -> None:
        self.chance = Random(f"{seed} model")
        self.faults = faults
        self.trace = trace
        self.seen = 0
        self.problems: list[str] = []

    def ask(self, request: ModelRequest) -> None:
        """Take a request into account."""
        self.seen += 1
        self.trace.add("model", f"request {self.seen}, {len(request.messages)} messages")
        self.problems += [f"request {self.seen}: {text}" for text in check_history(request.messages)]

    def reply(self) -> Reply:
        """What to answer: text, calls, or nothing."""
        usage = Usage(10, 5)
        kind = self.chance.random()
        if kind < 0.45:
            return Reply(" ".join(self.chance.choices(WORDS, k=3)), usage=usage)
        if kind < 0.49:
            return Reply("", usage=usage)
        calls = tuple(self._call(index) for index in range(self.chance.randint(1, MOST_CALLS)))
        return Reply(self.chance.choice(("", "well")), calls, usage=usage, finish_reason="tool_calls")

    def _call(self, index: int) -> ToolCall:
        name = self.chance.choice(TOOLS)
        arguments: dict[str, Any] = {"question": "which?"} if name == "ask_user" else {"n": index}
        text = wire.encode(arguments).decode()
        if self.faults.strikes("garbage", "a call's arguments"):
            text = self.chance.choice(GARBAGE)
        return ToolCall(f"call-{self.seen}-{index}", name, text)


class ProcessModel:
    """The model as one process reaches it."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.is_dead = False

    async def respond(self, request: ModelRequest, progress: Progress) -> Reply:
        if self.is_dead:
            await anyio.sleep_forever()
        chance, faults = self._model.chance, self._model.faults
        if chance.random() < 0.03:
            raise ProviderError("no route to the model", kind="connection", sent=False, retryable=True)
        await progress.ready()
        progress.sent()
        self._model.ask(msgspec.structs.replace(request, messages=tuple(request.messages)))
        await anyio.sleep(chance.uniform(0, 1))
        if faults.strikes("slow", "the model"):
            await anyio.sleep(faults.between(5, 90))
        if faults.strikes("stall", "the model", 0.1):
            await anyio.sleep(NEVER)
            raise ProviderError("the model says nothing", kind="connection", retryable=True)
        if faults.strikes("raise", "in the provider", 0.1):
            raise RuntimeError("a bug in a provider")
        if chance.random() < 0.03:
            raise ProviderError("too many", kind="rate_limit", status=429, retryable=True, retry_after=1)
        if chance.random() < 0.02:
            raise ProviderError("no such model", status=400)
        reply = self._model.reply()
        await self._stream(reply.content, progress)
        return reply

    async def _stream(self, content: str, progress: Progress) -> None:
        faults = self._model.faults
        for piece in content.split(" "):
            progress.text(piece + " ")
            await anyio.sleep(0.05)
            if faults.strikes("cut", "the model's stream", 0.2):
                raise ProviderError("the stream was cut", kind="connection", retryable=True)

    async def models(self, route: Route = DIRECT) -> list[ModelInfo]:
        return [ModelInfo(NAME, NAME)]

    async def aclose(self) -> None:
        pass
