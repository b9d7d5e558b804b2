"""A server on TCP: what one connection meets with costs the others nothing."""

import logging
import resource
import socket
import struct
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from turnwright.protocol import wire
from turnwright.providers.loose import an_object
from turnwright.rpc import framing
from turnwright.rpc.transport import Framed
from turnwright.server.serve import LOOPBACK, listen, serve_tcp
from turnwright.server.settings import Settings
from turnwright.server.start import started

PING = b'{"jsonrpc":"2.0","id":"1","method":"ping","params":{"message":"still there?"}}'


async def test_a_client_that_is_gone_before_it_is_served_leaves_the_server_to_the_others(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as server:
        gone = socket.create_connection((LOOPBACK, server.port))
        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        gone.close()  # a reset, which comes before the server has begun to accept
        server.may_begin.set()
        async with await anyio.connect_tcp(LOOPBACK, server.port) as other:
            assert await pinged(other) == "pong: still there?"


async def test_a_server_without_a_free_descriptor_serves_who_waits_once_it_has_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(tmp_path) as server, await anyio.connect_tcp(LOOPBACK, server.port) as waiting:
        with no_free_descriptors():
            async with told(logging.getLogger("turnwright.server.serve")):
                server.may_begin.set()
        assert await pinged(waiting) == "pong: still there?"
    assert [record.getMessage() for record in caplog.records] == [
        "can't take a connection: Too many open files"
    ]


class Server:
    """A server on a port, which accepts connections from `may_begin` on."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.may_begin = anyio.Event()


@asynccontextmanager
async def serving(home: Path) -> AsyncGenerator[Server]:
    """A server on TCP in this process; all is over in twenty seconds."""
    settings = Settings(home)
    listener = await listen(0)
    server = Server(listener.extra(SocketAttribute.local_port))
    with anyio.fail_after(20):
        async with listener, started(settings) as runtime, anyio.create_task_group() as tasks:

            async def serve() -> None:
                await server.may_begin.wait()
                await serve_tcp(runtime, settings, listener)

            tasks.start_soon(serve)
            yield server
            tasks.cancel_scope.cancel()


async def pinged(stream: SocketStream) -> object:
    """What the server answers to a client."""
    await stream.send(framing.encode([PING]))
    answer = wire.loads(await Framed(stream).receive() or b"null")
    return an_object(an_object(answer)["result"])["message"]


@contextmanager
def no_free_descriptors() -> Generator[None]:
    """This process can open nothing more meanwhile."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@asynccontextmanager
async def told(log: logging.Logger) -> AsyncGenerator[None]:
    """Leave once there is news in a log."""
    news = anyio.Event()

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            news.set()

    handler = Told()
    log.addHandler(handler)
    try:
        yield
        await news.wait()
    finally:
        log.removeHandler(handler)
