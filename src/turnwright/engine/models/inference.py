"""Model requests that a client carries out: they go there in pieces, and so the answers come."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal, Protocol

import anyio
import msgspec

from turnwright.engine.models.exchange import Exchange
from turnwright.errors import ProviderError, TurnwrightError
from turnwright.protocol import wire
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.transport import (
    AT_ONCE,
    READ_TIMEOUT,
    Carrier,
    Departure,
    Response,
    request_headers,
)

CANCEL_PATIENCE = 1.0
"""Seconds that a client is given to take the news that a request was given up."""

NO_LONGER_WANTED = "no longer wanted"
CLOSED = "the runtime closed the websocket"


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
        self._exchanges: dict[str, Exchange] = {}

    def carrier(self, origin: Origin) -> Carrier:
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


class _Carried:
    """A carrier: requests go to the client as `llmInference.*`."""

    def __init__(self, client: Callee, exchanges: dict[str, Exchange], origin: Origin) -> None:
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
        departure: Departure = AT_ONCE,
    ) -> AsyncGenerator[Response]:
        """Let the client send one request; see `Transport.request`."""
        async with self._begun(NO_LONGER_WANTED) as (request_id, exchange):
            url, content = endpoint.to(path), {"content-type": "application/json"} if body else {}
            if body:
                await departure.ready()
            await self._start(request_id, endpoint, method, url, transport="http", headers=content)
            if body:
                departure.sent()  # the client has all of it once the call below is queued, which is at once
            await self._say(endpoint, "Chunk", {"requestId": request_id, "data": body.decode(), "end": True})
            yield await exchange.response(endpoint)

    @asynccontextmanager
    async def converse(
        self,
        endpoint: Endpoint,
        path: str,
        message: bytes,
        *,
        departure: Departure = AT_ONCE,
    ) -> AsyncGenerator[Response]:
        """Let the client open a websocket and send one message; see `Carrier.converse`.

        Clients send nothing before they have told that it is open.
        """
        async with self._begun(CLOSED) as (request_id, exchange):
            await departure.ready()
            await self._start(request_id, endpoint, "GET", endpoint.socket(path), transport="websocket")
            response = await exchange.response(endpoint, messages=True)
            if response.is_success:
                departure.sent()
                piece = {"requestId": request_id, "data": message.decode(), "end": False}
                await self._say(endpoint, "Chunk", piece)
            yield response

    @asynccontextmanager
    async def _begun(self, farewell: str) -> AsyncGenerator[tuple[str, Exchange]]:
        """A new exchange and its id; `farewell` tells the client why an answer is not read to its end."""
        request_id = wire.new_id()
        exchange = self._exchanges[request_id] = Exchange()
        try:
            yield request_id, exchange
        finally:
            del self._exchanges[request_id]
            if not exchange.is_over:
                await self._give_up(request_id, farewell)
            exchange.close()

    async def _start(
        self,
        request_id: str,
        endpoint: Endpoint,
        method: str,
        url: str,
        *,
        transport: Literal["http", "websocket"],
        headers: Mapping[str, str] = {},
    ) -> None:
        origin = self._origin
        head: dict[str, Any] = {
            "requestId": request_id,
            "method": method,
            "url": url,
            "headers": {name: [value] for name, value in {**request_headers(endpoint), **headers}.items()},
            "transport": transport,
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

    async def _give_up(self, request_id: str, reason: str) -> None:
        params = {"requestId": request_id, "data": "", "end": True, "cancel": True, "cancelReason": reason}
        with anyio.move_on_after(CANCEL_PATIENCE, shield=True):
            try:
                await self._client.call("llmInference.httpRequestChunk", params)
            except TurnwrightError:
                return  # it is gone, or forgot the request: either way nobody goes on with it
