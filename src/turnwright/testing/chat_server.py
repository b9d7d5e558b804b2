"""A chat-completions server for tests: scripted answers, strict requests, and a count of all it saw."""

from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Self

import anyio
from aiohttp import web

from turnwright.errors import InvalidParams
from turnwright.protocol.wire import Json, loads
from turnwright.providers.loose import an_object
from turnwright.testing.chat_answers import ChatAnswer, Say, Send, refuse, stream, whole
from turnwright.testing.chat_check import check_chat_request

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
        self._known: set[int] = set()
        self._transports: list[object] = []
        self._changed = anyio.Condition()
        self._runner: web.AppRunner | None = None
        self._port = 0

    @property
    def base_url(self) -> str:
        """The URL below which `chat/completions` and `models` are."""
        return f"http://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=1 << 30)
        for base in ("", "/v1"):
            app.router.add_post(f"{base}/chat/completions", self._complete)
            app.router.add_get(f"{base}/models", self._list_models)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._runner is not None:
            with anyio.CancelScope(shield=True):
                await self._runner.cleanup()

    async def wait_for_requests(self, count: int) -> None:
        """Return when the server has seen `count` requests in all."""
        async with self._changed:
            while len(self.requests) < count:
                await self._changed.wait()

    async def wait_for_hang_ups(self, count: int) -> None:
        """Return when `count` clients in all have hung up before they had their answer."""
        async with self._changed:
            while self.hang_ups < count:
                await self._changed.wait()

    async def _list_models(self, request: web.Request) -> web.StreamResponse:
        self._count_connection(request)
        if not self._admits(request):
            return await _send(request, refuse(401, "Incorrect API key provided"))
        return web.json_response({"object": "list", "data": self.models})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        async with self._changed:
            number = len(self.requests)
            self._count_connection(request)
            body, wrong = _checked(raw)
            self.requests.append(body)
            self.bodies.append(raw)
            self.headers.append({name.lower(): value for name, value in request.headers.items()})
            self.violations += wrong
            self._changed.notify_all()
        if not self._admits(request):
            return await _send(request, refuse(401, "Incorrect API key provided", code="invalid_api_key"))
        if wrong:
            return await _send(request, refuse(400, "; ".join(wrong), code="invalid_request_error"))
        answer = self._answer(body)
        if answer is None:
            self.violations.append(f"the script has no answer to request {number}")
            return await _send(request, refuse(500, self.violations[-1], code="no_answer"))
        try:
            return await self._reply(request, body, number, answer)
        except (anyio.get_cancelled_exc_class(), ConnectionError):
            with anyio.CancelScope(shield=True):
                async with self._changed:
                    self.hang_ups += 1
                    self._changed.notify_all()
            raise

    async def _reply(
        self, request: web.Request, body: dict[str, Json], number: int, answer: ChatAnswer
    ) -> web.StreamResponse:
        if answer.gate is not None:
            await answer.gate.wait()
        if isinstance(answer, Send):
            return await _send(request, answer)
        model = body["model"]
        if body.get("stream") is not True:
            return web.json_response(whole(answer, model, number), headers={"x-request-id": f"req-{number}"})
        usage = body.get("stream_options", {}).get("include_usage") is True
        headers = {"content-type": "text/event-stream", "x-request-id": f"req-{number}"}
        return await _send(request, Send(list(stream(answer, model, number, usage=usage)), headers=headers))

    def _count_connection(self, request: web.Request) -> None:
        transport = request.transport
        if transport is not None and id(transport) not in self._known:
            self._known.add(id(transport))
            self._transports.append(transport)
            self.connections += 1

    def _admits(self, request: web.Request) -> bool:
        return self._api_key is None or request.headers.get("authorization") == f"Bearer {self._api_key}"


async def _send(request: web.Request, answer: Send) -> web.StreamResponse:
    response = web.StreamResponse(status=answer.status, headers=answer.headers)
    await response.prepare(request)
    for piece in answer.pieces:
        await response.write(piece)
    if answer.then == "stall":
        await anyio.sleep_forever()
    if answer.then == "cut" and request.transport is not None:
        request.transport.close()
        return response
    await response.write_eof()
    return response


def _checked(raw: bytes) -> tuple[dict[str, Json], list[str]]:
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
