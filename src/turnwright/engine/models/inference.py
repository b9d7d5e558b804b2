"""Model requests that a client carries out: they go there in pieces, and so the answers come."""

import math
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Protocol, Self

import anyio
import msgspec

from turnwright.errors import ProviderError, TurnwrightError
from turnwright.protocol import wire
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.transport import LARGEST_ANSWER, READ_TIMEOUT, Response, Transport, request_headers

CANCEL_PATIENCE = 1.0
"""Seconds that a client is given to take the news that a request was given up."""


class Origin(msgspec.Struct, frozen=True):
    """What a request is for, as the client is told; None is left out."""

    session_id: str | None = None
    agent_id: str | None = None
    parent_agent_id: str | None = None
    interaction_type: str | None = None


class Callee(Protocol):
    """The client, as far as it is called here."""

    async def call(self, method: str, params: object, *, timeout: float | None = None) -> msgspec.Raw:
        """Raises RequestFailed, ConnectionClosed or TimeoutError."""
        ...


class Inference:
    """The requests that one client has in hand. `start` and `feed` take in what it says of them."""

    def __init__(self, client: Callee) -> None:
        self._client = client
        self._exchanges: dict[str, _Exchange] = {}

    def transport(self, origin: Origin) -> Transport:
        """Carries requests of that origin to the client."""
        return _Carried(self._client, self._exchanges, origin)

    def start(self, request_id: str, status: int, headers: Mapping[str, list[str]]) -> bool:
        """Take the head of an answer; False when nobody waits for it."""
        exchange = self._exchanges.get(request_id)
        if exchange is None or exchange.head.is_set():
            return False
        exchange.status = status
        exchange.headers = {name.lower(): ", ".join(values) for name, values in headers.items()}
        exchange.head.set()
        return True

    def feed(self, request_id: str, data: bytes, *, end: bool, error: str | None) -> bool:
        """Take a piece of an answer, or why there won't be more of it; False when nobody waits for it."""
        exchange = self._exchanges.get(request_id)
        return exchange is not None and exchange.feed(data, end=end, error=error)

    def close(self) -> None:
        """The client is gone: nothing more comes."""
        for exchange in self._exchanges.values():
            exchange.feed(b"", end=True, error="it hung up")


class _Exchange:
    """One request that the client has in hand; its answer's body is read from `pieces`."""

    def __init__(self) -> None:
        self.head = anyio.Event()
        self.status = 0
        self.headers: dict[str, str] = {}
        self.error: str | None = None
        self.is_over = False
        self._waiting = 0
        self._write, self._read = anyio.create_memory_object_stream[bytes](math.inf)

    def feed(self, data: bytes, *, end: bool, error: str | None) -> bool:
        if self.is_over:
            return False
        if data:
            self._waiting += len(data)
            self._write.send_nowait(data)
        if self._waiting > LARGEST_ANSWER:
            end, error = True, "its answer is too big"
        if end or error is not None:
            self.error, self.is_over = error, True
            self._write.close()
            self.head.set()
        return True

    async def next(self) -> bytes | None:
        """The next piece; None at the end, which `error` may explain."""
        try:
            piece = await self._read.receive()
        except anyio.EndOfStream:
            return None
        self._waiting -= len(piece)
        return piece

    def at_end(self) -> bool:
        return self.is_over and self.error is None and self._waiting == 0

    def close(self) -> None:
        self.is_over = True
        self._write.close()
        self._read.close()


class _Carried:
    """A transport: requests go to the client as `llmInference.*`."""

    def __init__(self, client: Callee, exchanges: dict[str, _Exchange], origin: Origin) -> None:
        self._client = client
        self._exchanges = exchanges
        self._origin = origin

    @asynccontextmanager
    async def request(
        self,
        endpoint: Endpoint,
        method: str,
        path: str,
        *,
        body: bytes = b"",
        on_sent: Callable[[], None] = lambda: None,
    ) -> AsyncGenerator[Response]:
        """Let the client send one request; see `Transport.request`."""
        request_id = wire.new_id()
        exchange = self._exchanges[request_id] = _Exchange()
        try:
            await self._begin(request_id, endpoint, method, path, body)
            if body:
                on_sent()  # the client has all of it once the call below is queued, which is at once
            piece = {"requestId": request_id, "data": body.decode(), "end": True}
            await self._say(endpoint, "Chunk", piece)
            await _until_head(endpoint, exchange)
            yield Response(exchange.status, exchange.headers, _Pieces(endpoint, exchange), exchange.at_end)
        finally:
            del self._exchanges[request_id]
            if not exchange.is_over:
                await self._give_up(request_id)
            exchange.close()

    async def _begin(self, request_id: str, endpoint: Endpoint, method: str, path: str, body: bytes) -> None:
        origin, headers = self._origin, request_headers(endpoint)
        if body:
            headers["content-type"] = "application/json"
        head: dict[str, Any] = {
            "requestId": request_id,
            "method": method,
            "url": endpoint.to(path),
            "headers": {name: [value] for name, value in headers.items()},
            "transport": "http",
            "sessionId": origin.session_id,
            "agentId": origin.agent_id,
            "parentAgentId": origin.parent_agent_id,
            "interactionType": origin.interaction_type,
        }
        told = {name: value for name, value in head.items() if value is not None}
        await self._say(endpoint, "Start", told, sent=False)

    async def _say(
        self, endpoint: Endpoint, what: str, params: Mapping[str, Any], *, sent: bool = True
    ) -> None:
        try:
            await self._client.call(f"llmInference.httpRequest{what}", params, timeout=READ_TIMEOUT)
        except (TurnwrightError, TimeoutError) as error:
            raise ProviderError(
                f"the client did not take the request for provider {endpoint.name} at {endpoint.host}",
                kind="connection",
                sent=sent,
                detail=endpoint.mask(str(error)),
            ) from error

    async def _give_up(self, request_id: str) -> None:
        params = {"requestId": request_id, "data": "", "cancel": True, "cancelReason": "no longer wanted"}
        with anyio.move_on_after(CANCEL_PATIENCE, shield=True):
            try:
                await self._client.call("llmInference.httpRequestChunk", params)
            except TurnwrightError:
                return  # it is gone, or forgot the request: either way nobody goes on with it


class _Pieces:
    """The body of a client's answer as it comes."""

    def __init__(self, endpoint: Endpoint, exchange: _Exchange) -> None:
        self._endpoint = endpoint
        self._exchange = exchange

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        with _patience(self._endpoint):
            piece = await self._exchange.next()
        if piece is not None:
            return piece
        if self._exchange.error is not None:
            raise _failed(self._endpoint, self._exchange.error)
        raise StopAsyncIteration


async def _until_head(endpoint: Endpoint, exchange: _Exchange) -> None:
    with _patience(endpoint):
        await exchange.head.wait()
    if exchange.error is not None:
        raise _failed(endpoint, exchange.error)
    if not exchange.status:
        raise _failed(endpoint, "it ended the answer before its status")


@contextmanager
def _patience(endpoint: Endpoint) -> Generator[None]:
    """Give up a client that is silent for too long."""
    try:
        with anyio.fail_after(READ_TIMEOUT):
            yield
    except TimeoutError as late:
        raise _failed(endpoint, f"it said nothing for {READ_TIMEOUT:g} seconds") from late


def _failed(endpoint: Endpoint, reason: str) -> ProviderError:
    where = f"provider {endpoint.name} at {endpoint.host}"
    text = f"the client failed to carry out the request for {where}: {reason}"
    return ProviderError(endpoint.mask(text), kind="connection", retryable=True)
