"""The local model as a provider: no network, no key, one model inside this process."""

import asyncio
import os
import threading
from collections.abc import Callable, Sequence

import anyio.to_thread

from turnwright.errors import ProviderError
from turnwright.protocol.messages import Reply, ToolCall
from turnwright.protocol.wire import Json, new_id
from turnwright.providers import local_model
from turnwright.providers.base import ModelInfo, ModelRequest, Progress
from turnwright.providers.embedded_engine import (
    CONTEXT_TOKENS,
    OUTPUT_TOKENS,
    Engine,
    Generated,
    shared_engine,
)
from turnwright.providers.embedded_prompt import ChatMessage, chat, prompt_start
from turnwright.providers.embedded_reply import (
    AnswerText,
    WrittenCall,
    answer_so_far,
    goes_in_circles,
    parse,
)
from turnwright.providers.embedded_schema import reply_schema
from turnwright.providers.transport import DIRECT, Route

THREADS = "TURNWRIGHT_LOCAL_THREADS"


class Embedded:
    """Answers with the local model; the model is loaded at the first request.

    Greedy, so the same request gives the same reply. Each reply is one tool call or one answer, generated
    once; when the calls so far go in circles, it can only be an answer.
    """

    def __init__(self) -> None:
        self._engine: Engine | None = None

    async def respond(self, request: ModelRequest, progress: Progress) -> Reply:
        """Carry out one model call; cancelled, it lets the engine stop by itself within seconds."""
        engine = self._engine or await anyio.to_thread.run_sync(_load, abandon_on_cancel=True)
        self._engine = engine
        messages = chat(request.system, request.tools, request.messages)
        wanted = request.answer_schema
        # An answer in JSON is not streamed: what can be told of one while it is written is its text.
        generation = _Generation(engine, messages, progress if request.stream and wanted is None else None)
        await progress.ready()
        progress.sent()
        await generation.begin(prompt_start(request.tools))
        only_answer = request.answer_only or goes_in_circles(request.messages)
        generated = await generation.run(reply_schema(() if only_answer else request.tools, wanted))
        return _reply(parse(generated.text, as_json=wanted is not None), generated)

    async def models(self, route: Route = DIRECT) -> list[ModelInfo]:
        """The one model there is, installed or not."""
        return [
            ModelInfo(
                id=local_model.MODEL.name,
                name=local_model.MODEL.title,
                context_window=CONTEXT_TOKENS,
                output_limit=OUTPUT_TOKENS,
                vision=False,
            )
        ]

    async def aclose(self) -> None:
        """Let go of the model; its memory is freed when no other session uses it."""
        self._engine = None


class _Generation:
    """Runs the engine in a worker thread for one request."""

    def __init__(self, engine: Engine, messages: Sequence[ChatMessage], progress: Progress | None) -> None:
        self._engine = engine
        self._messages = messages
        self._progress = progress

    async def begin(self, start: str) -> None:
        stop = threading.Event()
        try:
            await anyio.to_thread.run_sync(self._engine.begin, start, stop, abandon_on_cancel=True)
        finally:
            stop.set()

    async def run(self, schema: dict[str, Json]) -> Generated:
        stop = threading.Event()
        hear = self._listener(stop)
        try:
            return await anyio.to_thread.run_sync(
                lambda: self._engine.generate(self._messages, schema, stop=stop, hear=hear),
                abandon_on_cancel=True,
            )
        finally:
            stop.set()

    def _listener(self, stop: threading.Event) -> Callable[[str], None]:
        """What the worker thread calls with each piece; it must never wait for the event loop."""
        progress, answer, loop = self._progress, AnswerText(), asyncio.get_running_loop()

        def tell(text: str) -> None:
            if progress is not None and not stop.is_set():
                progress.text(text)

        def hear(piece: str) -> None:
            if progress is not None and (text := answer.feed(piece)) and not loop.is_closed():
                loop.call_soon_threadsafe(tell, text)

        return hear


def _reply(reply: WrittenCall | str | None, generated: Generated) -> Reply:
    model, usage = local_model.MODEL.name, generated.usage
    match reply:
        case WrittenCall(name, arguments):
            call = ToolCall(f"call_{new_id()}", name, arguments)
            return Reply(tool_calls=(call,), usage=usage, finish_reason="tool_calls", model=model)
        case str(answer):
            return Reply(content=answer, usage=usage, model=model)
        case None:
            text = answer_so_far(generated.text)
            return Reply(content=text, usage=usage, finish_reason=generated.finish_reason, model=model)


def _load() -> Engine:
    model = local_model.path()
    if not local_model.installed():
        raise ProviderError(
            f"The local model isn't there ({model}): fetch it with `turnwright models pull`.", sent=False
        )
    return shared_engine(model, _threads())


def _threads() -> int:
    text = os.environ.get(THREADS, "1")
    if not text.isdecimal() or int(text) < 1:
        raise ProviderError(f"{THREADS} must be a number of threads, at least 1, not {text!r}", sent=False)
    return int(text)
