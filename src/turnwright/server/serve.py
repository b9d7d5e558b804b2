"""Serving connections: this process's own stdio, or TCP on loopback."""

import logging
from itertools import count
from typing import TYPE_CHECKING

import anyio

from turnwright.engine.runtime import Runtime
from turnwright.errors import ConfigError
from turnwright.rpc.transport import Framed, Transport, stdio
from turnwright.server.connection import Connection
from turnwright.server.settings import Settings

if TYPE_CHECKING:
    from anyio.abc import SocketStream
    from anyio.streams.stapled import MultiListener

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"

ACCEPT_PAUSE = 0.5
"""Seconds until connections are taken again, once one couldn't be: for want of descriptors, mostly."""


async def serve_transport(runtime: Runtime, settings: Settings, transport: Transport, name: str) -> None:
    """Serve one client until it hangs up."""
    await Connection(runtime, settings, transport, name).serve()


async def serve_stdio(runtime: Runtime, settings: Settings) -> None:
    """Serve the process that started this one, until it closes our stdin."""
    await serve_transport(runtime, settings, stdio(), "stdio")


async def listen(port: int) -> "MultiListener[SocketStream]":
    """Take a port of the loopback; 0 takes a free one. Raises ConfigError, as when somebody else has it."""
    try:
        return await anyio.create_tcp_listener(local_host=LOOPBACK, local_port=port)
    except OSError as error:
        raise ConfigError(f"--port: can't listen on {LOOPBACK}:{port}: {error.strerror}") from error


async def serve_tcp(runtime: Runtime, settings: Settings, listener: "MultiListener[SocketStream]") -> None:
    """Serve everyone who connects; says the port on stdout."""

    from anyio.abc import SocketAttribute

    numbers = count(1)

    async def accept(stream: "SocketStream") -> None:
        # Not by its address: a client that is gone already has none any more.
        await serve_transport(runtime, settings, Framed(stream), f"connection {next(numbers)}")

    print(f"CLI server listening on port {listener.extra(SocketAttribute.local_port)}", flush=True)  # noqa: T201
    async with anyio.create_task_group() as connections:
        while True:
            try:
                await listener.serve(accept, connections)
            except* OSError as errors:
                log.warning("can't take a connection: %s", _first(errors).strerror)
            await anyio.sleep(ACCEPT_PAUSE)


def _first(errors: BaseExceptionGroup[OSError]) -> OSError:
    match errors.exceptions[0]:
        case BaseExceptionGroup() as group:
            return _first(group)
        case error:
            return error
