"""A model that says what a script tells it, and checks every history that it is given."""

from collections.abc import Awaitable, Callable, Iterable, Sequence

import anyio
import anyio.lowlevel
import msgspec

from turnwright.errors import ProviderError
from turnwright.protocol.messages import Assistant, Message, Reply, ToolCall, ToolOutput, Usage, User
from turnwright.providers.base import ModelInfo, ModelRequest, Progress
from turnwright.providers.transport import DIRECT, Route

Step = Reply | ProviderError | Callable[[ModelRequest], Awaitable[Reply]]


def text(content: str) -> Reply:
    """A reply without calls."""
    return Reply(content, usage=Usage(10, max(1, len(content) // 4)))


def calls(*requests: tuple[str, str, str], content: str = "") -> Reply:
    """A reply with calls: each an id, a tool's name and the arguments' JSON text."""
    wanted = tuple(ToolCall(*request) for request in requests)
    return Reply(content, wanted, usage=Usage(10, 5), finish_reason="tool_calls")


class Scripted:
    """A provider for tests and demos. Each request takes the next step of the script; none left is an error.

    `requests` counts what it was sent; `problems` says what a real model would have refused.
    """

    def __init__(self, steps: Iterable[Step] = (), *, pieces: int = 3) -> None:
        self.steps: list[Step] = list(steps)
        self.requests: list[ModelRequest] = []
        self.problems: list[str] = []
        self._pieces = pieces

    async def respond(self, request: ModelRequest, progress: Progress) -> Reply:
        await progress.ready()
        progress.sent()
        kept = msgspec.structs.replace(request, messages=tuple(request.messages))
        self.requests.append(kept)
        self.problems += check_history(kept.messages)
        if not self.steps:
            raise ProviderError("the script has no more replies", kind="query")
        step = self.steps.pop(0)
        await anyio.lowlevel.checkpoint()
        if isinstance(step, ProviderError):
            raise step
        reply = step if isinstance(step, Reply) else await step(request)
        await self._stream(reply.content, progress)
        return reply

    async def models(self, route: Route = DIRECT) -> list[ModelInfo]:
        return [ModelInfo("scripted", "Scripted")]

    async def aclose(self) -> None:
        pass

    async def _stream(self, content: str, progress: Progress) -> None:
        size = max(1, -(-len(content) // self._pieces))
        for start in range(0, len(content), size):
            progress.text(content[start : start + size])
            await anyio.lowlevel.checkpoint()


def check_history(messages: Sequence[Message]) -> list[str]:
    """What is wrong with a history: each call must have one result, right after its reply and in order."""
    problems: list[str] = []
    waiting: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        if isinstance(message, ToolOutput):
            if not waiting or waiting.pop(0) != message.call_id:
                problems.append(f"message {index}: no call waits for the result of {message.call_id}")
            continue
        if waiting:
            problems.append(f"message {index}: calls without a result: {', '.join(waiting)}")
            waiting = []
        if isinstance(message, Assistant):
            waiting = [call.id for call in message.tool_calls]
            problems += [f"message {index}: call id {i} was used before" for i in waiting if i in seen]
            seen.update(waiting)
    if waiting:
        problems.append(f"calls without a result at the end: {', '.join(waiting)}")
    if messages and not isinstance(messages[-1], User | ToolOutput):
        problems.append("the last message is the model's own")
    return problems
