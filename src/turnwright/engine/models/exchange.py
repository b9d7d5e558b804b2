"""One request that a client has in hand, and its answer as it comes."""

import math
from collections.abc import Generator
from contextlib import contextmanager
from typing import Self

import anyio

from turnwright.errors import ProviderError
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.transport import LARGEST_ANSWER, READ_TIMEOUT, Response


class Exchange:
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
        """Take a piece, or why there won't be more; False when nobody waits for it."""
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

    async def response(self, endpoint: Endpoint, *, messages: bool = False) -> Response:
        """Wait for the head of the answer. Raises ProviderError when none comes."""
        with _patience(endpoint):
            await self.head.wait()
        if self.error is not None:
            raise _failed(endpoint, self.error)
        if not self.status:
            raise _failed(endpoint, "it ended the answer before its status")
        pieces = _Pieces(endpoint, self)
        return Response(self.status, self.headers, pieces, self._at_end, messages=messages)

    async def next(self) -> bytes | None:
        """The next piece; None at the end, which `error` may explain."""
        try:
            piece = await self._read.receive()
        except anyio.EndOfStream:
            return None
        self._waiting -= len(piece)
        return piece

    def close(self) -> None:
        """Nobody waits for it any more."""
        self.is_over = True
        self._write.close()
        self._read.close()

    def _at_end(self) -> bool:
        return self.is_over and self.error is None and self._waiting == 0


class _Pieces:
    """The body of a client's answer as it comes."""

    def __init__(self, endpoint: Endpoint, exchange: Exchange) -> None:
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
