"""A model server for tests: scripted answers, strict requests, and a count of all it saw."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import anyio

from turnwright.errors import InvalidParams
from turnwright.protocol.wire import Json, loads
from turnwright.providers.loose import an_object
from turnwright.testing.answers import Say, Send, ServedAnswer, send_json
from turnwright.testing.http_listener import HttpRequest, Listener, Responder, listening

Script = Iterable[ServedAnswer] | Callable[[dict[str, Json]], ServedAnswer]
"""Answers one after the other, or what makes one of a request's body."""


@dataclass(frozen=True)
class ServedApi:
    """The API that a server speaks: where it is, what it takes, and how it puts its answers.

    `base` is the path that a provider is given. `check` says all that is wrong with a call;
    `render` puts the server's answer of a number into the form that the body asks for; `refuse` makes an
    error of a status, a message and a code; `key_of` finds the key in the headers.
    """

    base: str
    is_call: Callable[[HttpRequest], bool]
    lists_models: Callable[[HttpRequest], bool]
    check: Callable[[dict[str, Json], Mapping[str, str]], list[str]]
    render: Callable[[Say, dict[str, Json], int], Send]
    refuse: Callable[[int, str, str], Send]
    key_of: Callable[[Mapping[str, str]], str | None]


class ModelServer:
    """A server on loopback, as an async context manager; `base_url` is what a provider is given.

    Each model call is kept: decoded in `requests`, as bytes in `bodies`, its path and query in `targets`, its
    headers in `headers`. One that breaks a rule of the API is answered with 400, and the reasons are in
    `violations`, as is a request for which the script has no answer. With `api_key`, others get 401.
    """

    def __init__(
        self,
        api: ServedApi,
        script: Script = (),
        *,
        api_key: str | None = None,
        models: Iterable[Json] = (),
    ) -> None:
        self.requests: list[dict[str, Json]] = []
        self.bodies: list[bytes] = []
        self.targets: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.violations: list[str] = []
        self.hang_ups = 0
        self.connections = 0
        self.models: list[Json] = list(models) or [{"id": "test-model", "object": "model"}]
        self._api = api
        self._answer = _answering(script)
        self._api_key = api_key
        self._changed = anyio.Event()
        self._stack = AsyncExitStack()
        self._port = 0

    @property
    def base_url(self) -> str:
        """The URL that a provider of this API is given."""
        return f"http://127.0.0.1:{self._port}{self._api.base}"

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
        if self._api.is_call(request):
            answer = await self._answer_to(request)
        elif not self._api.lists_models(request):
            answer = self._api.refuse(404, f"there is no {request.method} {request.path}", "not_found")
        elif self._admits(request):
            answer = send_json({"object": "list", "data": self.models})
        else:
            answer = self._not_admitted()
        await _send(responder, answer)

    async def _answer_to(self, request: HttpRequest) -> Send:
        number = len(self.requests)
        body, wrong = self._checked(request)
        self.requests.append(body)
        self.bodies.append(request.body or b"")
        self.targets.append(f"{request.path}?{request.query}".rstrip("?"))
        self.headers.append(dict(request.headers))
        self.violations += wrong
        self._tell_of_change()
        if not self._admits(request):
            return self._not_admitted()
        if wrong:
            return self._api.refuse(400, "; ".join(wrong), "invalid_request_error")
        answer = self._answer(body)
        if answer is None:
            self.violations.append(f"the script has no answer to request {number}")
            return self._api.refuse(500, self.violations[-1], "no_answer")
        if answer.gate is not None:
            await answer.gate.wait()
        return answer if isinstance(answer, Send) else self._api.render(answer, body, number)

    def _admits(self, request: HttpRequest) -> bool:
        return self._api_key is None or self._api.key_of(request.headers) == self._api_key

    def _not_admitted(self) -> Send:
        return self._api.refuse(401, "Incorrect API key provided", "invalid_api_key")

    def _checked(self, request: HttpRequest) -> tuple[dict[str, Json], list[str]]:
        if request.body is None:
            return {}, []  # the client gave up while it sent; that breaks no rule
        try:
            body = loads(request.body)
        except InvalidParams as error:
            return {}, [f"the body is not JSON: {error}"]
        if not isinstance(body, dict):
            return {}, ["the body is not a JSON object"]
        fields = an_object(body)
        return fields, self._api.check(fields, request.headers)


def asks(request: HttpRequest, method: str, path: str) -> bool:
    """Whether a request is of this method and for this path, where the version before it may be left out."""
    return request.method == method and request.path.removeprefix("/v1") == path.removeprefix("/v1")


def bearer(headers: Mapping[str, str]) -> str | None:
    """The key of a request that carries it as a bearer."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token if kind == "Bearer" else None


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


def _answering(script: Script) -> Callable[[dict[str, Json]], ServedAnswer | None]:
    if callable(script):
        return script
    answers: Iterator[ServedAnswer] = iter(script)
    return lambda _body: next(answers, None)
