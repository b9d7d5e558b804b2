"""A chat-completions server for tests: scripted answers, strict requests, and a count of all it saw."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

import anyio

from turnwright.errors import InvalidParams
from turnwright.protocol.wire import Json, loads
from turnwright.providers.loose import an_object
from turnwright.testing.chat_answers import ChatAnswer, Say, Send, refuse, send_json, stream, whole
from turnwright.testing.chat_check import check_chat_request
from turnwright.testing.http_listener import HttpRequest, Listener, Responder, listening

Script = Iterable[ChatAnswer] | Callable[[dict[str, Json]], ChatAnswer]
"""Answers one after the other, or what makes one of a request's body."""


class ChatServer:
    """A server on loopback, as an async context manager; `base_url` is what a provider is given.

    Each request to `chat/completions` is kept: decoded in `requests`, as bytes in `bodies`, its headers in
    `headers`. One that breaks a rule of the interface is answered with 400, and the reasons are in
    `violations`, as is a request for which the script has no answer. With `api_key`, others get 401.
    """

    def __init__(
        self, script: Script = (), *, api_key: str | None = None, models: Iterable[Json] = ()
    ) -> None:
        self.requests: list[dict[str, Json]] = []
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.violations: list[str] = []
        self.hang_ups = 0
        self.connections = 0
        self.models: list[Json] = list(models) or [{"id": "test-model", "object": "model"}]
        self._answer = _answering(script)
        self._api_key = api_key
        self._changed = anyio.Event()
        self._stack = AsyncExitStack()
        self._port = 0

    @property
    def base_url(self) -> str:
        """The URL below which `chat/completions` and `models` are."""
        return f"http://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> Self:
        listener = Listener(self._handle, self._count_hang_up)
        self._port = await self._stack.enter_async_context(listening(listener))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    async def wait_for_requests(self, count: int) -> None:
        """Return when the server has seen `count` requests in all."""
        while len(self.requests) < count:
            await self._changed.wait()

    async def wait_for_hang_ups(self, count: int) -> None:
        """Return when `count` clients in all have hung up before they had their answer."""
        while self.hang_ups < count:
            await self._changed.wait()

    def _tell_of_change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _count_hang_up(self) -> None:
        self.hang_ups += 1
        self._tell_of_change()

    async def _handle(self, request: HttpRequest, responder: Responder) -> None:
        self.connections = max(self.connections, request.connection + 1)
        match (request.method, request.path.removeprefix("/v1")):
            case ("POST", "/chat/completions"):
                answer = await self._answer_to(request)
            case ("GET", "/models") if self._admits(request):
                answer = send_json({"object": "list", "data": self.models})
            case ("GET", "/models"):
                answer = _NOT_ADMITTED
            case _:
                answer = refuse(404, f"there is no {request.method} {request.path}", code="not_found")
        await _send(responder, answer)

    async def _answer_to(self, request: HttpRequest) -> Send:
        number = len(self.requests)
        body, wrong = _checked(request.body)
        self.requests.append(body)
        self.bodies.append(request.body or b"")
        self.headers.append(dict(request.headers))
        self.violations += wrong
        self._tell_of_change()
        if not self._admits(request):
            return _NOT_ADMITTED
        if wrong:
            return refuse(400, "; ".join(wrong), code="invalid_request_error")
        answer = self._answer(body)
        if answer is None:
            self.violations.append(f"the script has no answer to request {number}")
            return refuse(500, self.violations[-1], code="no_answer")
        if answer.gate is not None:
            await answer.gate.wait()
        return answer if isinstance(answer, Send) else _rendered(answer, body, number)

    def _admits(self, request: HttpRequest) -> bool:
        return self._api_key is None or request.headers.get("authorization") == f"Bearer {self._api_key}"


_NOT_ADMITTED = refuse(401, "Incorrect API key provided", code="invalid_api_key")


def _rendered(answer: Say, body: dict[str, Json], number: int) -> Send:
    """Put a proper reply into the form that the request asks for."""
    headers = {"x-request-id": f"req-{number}"}
    if body.get("stream") is not True:
        return send_json(whole(answer, body["model"], number), headers=headers)
    usage = an_object(body.get("stream_options")).get("include_usage") is True
    pieces = list(stream(answer, body["model"], number, usage=usage))
    return Send(pieces, headers={"content-type": "text/event-stream", **headers})


async def _send(responder: Responder, answer: Send) -> None:
    await responder.start(answer.status, answer.headers)
    for piece in answer.pieces:
        await responder.write(piece)
    match answer.then:
        case "end":
            await responder.end()
        case "stall":
            await anyio.sleep_forever()
        case "cut":
            await responder.cut()


def _checked(raw: bytes | None) -> tuple[dict[str, Json], list[str]]:
    if raw is None:
        return {}, []  # the client gave up while it sent; that breaks no rule
    try:
        body = loads(raw)
    except InvalidParams as error:
        return {}, [f"the body is not JSON: {error}"]
    if not isinstance(body, dict):
        return {}, ["the body is not a JSON object"]
    fields = an_object(body)
    return fields, check_chat_request(fields)


def _answering(script: Script) -> Callable[[dict[str, Json]], ChatAnswer | None]:
    if callable(script):
        return script
    answers: Iterator[ChatAnswer] = iter(script)
    return lambda _body: next(answers, None)


__all__ = ["ChatAnswer", "ChatServer", "Say", "Script", "Send"]
