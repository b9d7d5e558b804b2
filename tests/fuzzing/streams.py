"""The readers of models' answers: streams of events or whole ones, in the form of each API."""

from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from types import TracebackType
from typing import Any, TypeVar

from tests.fuzzing.target import JSON_TOKENS, InvalidRequest, Target, pieces_of, require
from turnwright.errors import ProviderError
from turnwright.protocol.messages import Assistant, Message, Reply, ToolOutput, User
from turnwright.protocol.wire import Json, loads
from turnwright.providers.anthropic import Anthropic
from turnwright.providers.base import ModelRequest, Provider
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.openai_chat import OpenAIChat
from turnwright.providers.responses import OpenAIResponses
from turnwright.providers.transport import AT_ONCE, Departure, Response, Route
from turnwright.testing.answers import Say, Send
from turnwright.testing.chat_check import check_chat_request
from turnwright.testing.chat_server import render_chat
from turnwright.testing.messages_check import check_messages_request
from turnwright.testing.messages_server import render_messages
from turnwright.testing.responses_check import check_responses_request
from turnwright.testing.responses_server import render_responses

T = TypeVar("T")

Check = Callable[[dict[str, Json], Mapping[str, str]], list[str]]
Render = Callable[[Say, dict[str, Json], int], Send]

_ANSWERS = (
    Say("H\u00e9llo \U0001f600"),
    Say("Look.", calls=[("view", {"path": "a"}), ("view", {})], reasoning="Two."),
    Say("Cut", calls=[("view", '{"a')], finish_reason="length"),
)


class _Served(AbstractAsyncContextManager[Response]):
    """A carrier that keeps the request's body, and whose every answer is the same bytes."""

    def __init__(self, pieces: list[bytes], kind: str) -> None:
        self.body = b""
        self._pieces = pieces
        self._kind = kind

    def request(
        self,
        endpoint: Endpoint,
        method: str,
        path: str,
        *,
        body: bytes = b"",
        departure: Departure = AT_ONCE,
    ) -> AbstractAsyncContextManager[Response]:
        self.body = body
        departure.sent()
        return self

    def converse(
        self,
        endpoint: Endpoint,
        path: str,
        message: bytes,
        *,
        departure: Departure = AT_ONCE,
    ) -> AbstractAsyncContextManager[Response]:
        self.body = message
        departure.sent()
        return self

    async def __aenter__(self) -> Response:
        return Response(200, {"content-type": self._kind}, _each(self._pieces), lambda: True)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


async def _each(pieces: list[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


class _Heard:
    """A progress that counts what it hears."""

    def __init__(self) -> None:
        self.length = 0

    async def ready(self) -> None:
        pass

    def sent(self) -> None:
        pass

    def text(self, delta: str) -> None:
        self.length += len(delta)

    def reasoning(self, delta: str) -> None:
        self.length += len(delta)


def _stream_of(
    name: str, provider: Provider, render: Render, check: Check, tokens: tuple[bytes, ...]
) -> Target:
    def samples() -> list[bytes]:
        found: list[bytes] = []
        for answer in _ANSWERS:
            for stream in (True, False) if answer.finish_reason is None else (True,):
                whole = b"".join(render(answer, {"model": "m", "stream": stream}, 0).pieces)
                found += [bytes([stream]) + whole, bytes([stream | 10]) + whole]
        deep = b'data: {"a":' + b"[" * 1100 + b"}\n\n"
        arguments = b'"arguments":"' + b"[" * 1100 + b'"'
        return [*found, b"\1" + deep, found[4].replace(b'"arguments":"', arguments[:-1], 1)]

    def attempt(data: bytes) -> None:
        """The first byte says whether a stream is announced, and in what pieces the rest comes."""
        how, rest = data[0] if data else 0, data[1:]
        kind = "text/event-stream" if how & 1 else "application/json"
        served = _Served(list(pieces_of(rest, how >> 1)), kind)
        heard = _Heard()
        try:
            reply = _finish(provider.respond(_request([User("hi")], served, stream=bool(how & 1)), heard))
        except ProviderError:
            return
        said = len(reply.content) + len(reply.reasoning)
        require(not how & 1 or heard.length <= said + len(rest), "more was streamed than came")
        faults = _faults_of_the_next(provider, reply, check)
        require(not faults, "; ".join(faults[:3]), InvalidRequest)

    return Target(name, samples, (*JSON_TOKENS, *tokens), attempt)


def _faults_of_the_next(provider: Provider, reply: Reply, check: Check) -> list[str]:
    """What a strict server says of the request that carries a reply back."""
    if not reply.content and not reply.tool_calls:
        return []
    said = Assistant(reply.content, reply.tool_calls, reply.reasoning, reply.reasoning_data)
    answered = [ToolOutput(call.id, "ok") for call in reply.tool_calls]
    served = _Served([], "application/json")
    with suppress(ProviderError):  # there is no answer
        _finish(provider.respond(_request([User("hi"), said, *answered, User("go on")], served), _Heard()))
    body = loads(served.body)
    return check(body, {"anthropic-version": "2023-06-01"})


def _request(messages: list[Message], served: _Served, *, stream: bool = False) -> ModelRequest:
    return ModelRequest("m", "You help.", messages, (), "c", stream=stream, route=Route(carrier=served))


def _finish(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns that never has to wait."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits for something")


_EVENTS = (b"data: ", b"event: ", b"\n\n", b": \n", b"data: [DONE]\n\n", b'"type":"', b'"index":', b'"id":')

URL = "http://127.0.0.1:1/v1"
CHAT = _stream_of(
    "chat",
    OpenAIChat(URL),
    render_chat,
    lambda body, headers: check_chat_request(body),
    (*_EVENTS, b'"choices":[{', b'"delta":{', b'"tool_calls":[{', b'"finish_reason":"stop"', b'"error":'),
)
RESPONSES = _stream_of(
    "responses",
    OpenAIResponses(URL),
    render_responses,
    lambda body, headers: check_responses_request(body),
    (
        *_EVENTS,
        b'"item":{',
        b'"output_index":',
        b'"function_call"',
        b'"reasoning"',
        b'"encrypted_content":"x"',
    ),
)
MESSAGES = _stream_of(
    "messages",
    Anthropic(URL),
    render_messages,
    check_messages_request,
    (*_EVENTS, b'"content_block":{', b'"delta":{', b'"tool_use"', b'"thinking"', b'"signature":"x"'),
)
