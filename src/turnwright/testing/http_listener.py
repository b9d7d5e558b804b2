"""A small HTTP server for tests, which sees every request whose bytes arrived.

A proper server drops a request whose client has hung up before its handler ran. This one must not: it counts
what was sent.
"""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.client import responses
from urllib.parse import urlsplit

import anyio
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

_LARGEST_HEAD = 1 << 16


@dataclass(frozen=True)
class HttpRequest:
    """One request: header names in lower case; `body` is None if the client hung up before its end.

    `connection` counts the server's connections from 0.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes | None
    connection: int


class Responder:
    """Writes the response of one request."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the status and the headers; the body follows in chunks."""
        reason = responses.get(status, "")
        fields = {**headers, "transfer-encoding": "chunked"}
        lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in fields.items())]
        await self._stream.send("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def write(self, piece: bytes) -> None:
        """Send a piece of the body at once."""
        if piece:
            await self._stream.send(b"%x\r\n%b\r\n" % (len(piece), piece))

    async def end(self) -> None:
        """Send the end of the body."""
        await self._stream.send(b"0\r\n\r\n")

    async def cut(self) -> None:
        """Close the connection in the middle of the response."""
        await self._stream.aclose()


class Listener:
    """Serves `handle` for each request, one at a time on a connection; see `listening`.

    `hung_up` is called when a client is gone while `handle` ran, which is then cancelled.
    """

    def __init__(
        self, handle: Callable[[HttpRequest, Responder], Awaitable[None]], hung_up: Callable[[], None]
    ) -> None:
        self._handle = handle
        self._hung_up = hung_up
        self._connections = 0

    async def serve(self, stream: SocketStream) -> None:
        """Serve one connection until either side closes it."""
        number = self._connections
        self._connections += 1
        chunks, arrived = anyio.create_memory_object_stream[bytes](math.inf)
        gone = anyio.Event()

        async def pump() -> None:
            with chunks:
                try:
                    async for chunk in stream:
                        chunks.send_nowait(chunk)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    pass  # a reset ends the connection like a proper close does
            gone.set()

        async with stream, arrived, anyio.create_task_group() as tasks:
            tasks.start_soon(pump)
            incoming = BufferedByteReceiveStream(arrived)
            while (request := await _receive(incoming, number)) is not None:
                if not await self._answered(request, Responder(stream), gone):
                    break
            tasks.cancel_scope.cancel()

    async def _answered(self, request: HttpRequest, responder: Responder, gone: anyio.Event) -> bool:
        answered = False
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                await gone.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            try:
                await self._handle(request, responder)
                answered = True
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                answered = False
            tasks.cancel_scope.cancel()
        if not answered:
            self._hung_up()
        return answered


@asynccontextmanager
async def listening(listener: Listener) -> AsyncGenerator[int]:
    """Serve on a free port of loopback, which is what the context gives."""
    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as sockets,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(sockets.serve, listener.serve)
        yield sockets.extra(SocketAttribute.local_port)
        tasks.cancel_scope.cancel()


async def _receive(incoming: BufferedByteReceiveStream, connection: int) -> HttpRequest | None:
    """Return the connection's next request; None when there is none."""
    try:
        head = await incoming.receive_until(b"\r\n\r\n", _LARGEST_HEAD)
    except (anyio.IncompleteRead, anyio.EndOfStream):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _version = first.split(" ")
    fields = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in fields}
    try:
        body = await incoming.receive_exactly(int(headers.get("content-length", "0")))
    except (anyio.IncompleteRead, anyio.EndOfStream):
        body = None
    url = urlsplit(target)
    return HttpRequest(method, url.path, url.query, headers, body, connection)
