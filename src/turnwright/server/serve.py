"""Serving connections: this process's own stdio, or TCP on loopback."""

import logging

import anyio
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.stapled import MultiListener

from turnwright.engine.runtime import Runtime
from turnwright.errors import ConfigError
from turnwright.rpc.transport import Framed, Transport, stdio
from turnwright.server.connection import Connection
from turnwright.server.settings import Settings

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"


async def serve_transport(runtime: Runtime, settings: Settings, transport: Transport, name: str) -> None:
    """Serve one client until it hangs up."""
    await Connection(runtime, settings, transport, name).serve()


async def serve_stdio(runtime: Runtime, settings: Settings) -> None:
    """Serve the process that started this one, until it closes our stdin."""
    await serve_transport(runtime, settings, stdio(), "stdio")


async def listen(port: int) -> MultiListener[SocketStream]:
    """Take a port of the loopback; 0 takes a free one. Raises ConfigError, as when somebody else has it."""
    try:
        return await anyio.create_tcp_listener(local_host=LOOPBACK, local_port=port)
    except OSError as error:
        raise ConfigError(f"--port: can't listen on {LOOPBACK}:{port}: {error.strerror}") from error


async def serve_tcp(runtime: Runtime, settings: Settings, listener: MultiListener[SocketStream]) -> None:
    """Serve everyone who connects; says the port on stdout."""

    async def accept(stream: SocketStream) -> None:
        host, remote = stream.extra(SocketAttribute.remote_address)[:2]
        await serve_transport(runtime, settings, Framed(stream), f"{host}:{remote}")

    print(f"CLI server listening on port {listener.extra(SocketAttribute.local_port)}", flush=True)  # noqa: T201
    await listener.serve(accept)
