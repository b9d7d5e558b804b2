"""connect, ping, status, shutdown: the runtime itself."""

import secrets
import time
from typing import TYPE_CHECKING, Any

from turnwright import __version__
from turnwright.errors import RequestFailed
from turnwright.protocol import wire
from turnwright.protocol.wire import Wire
from turnwright.server.methods.base import AUTHENTICATION_FAILED, Empty, Methods
from turnwright.server.settings import PROTOCOL_VERSION

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table


class ConnectParams(Wire):
    """The token that the runtime's starter gave out, if it did."""

    token: str | None = None


@methods.runtime("connect", ConnectParams, inline=True, open=True)
async def connect(connection: "Connection", params: ConnectParams) -> dict[str, Any]:
    """Shake hands. A wrong or missing token is error -32002."""
    expected = connection.settings.connection_token
    if expected is not None and not secrets.compare_digest((params.token or "").encode(), expected.encode()):
        raise RequestFailed(AUTHENTICATION_FAILED, "AUTHENTICATION_FAILED")
    connection.authenticated = connection.connected = True
    return {"ok": True, "protocolVersion": PROTOCOL_VERSION, "version": __version__}


class PingParams(Wire):
    """Anything, to be said back."""

    message: str | None = None


@methods.runtime("ping", PingParams)
async def ping(connection: "Connection", params: PingParams) -> dict[str, Any]:
    """Answer at once. `timestamp` is ISO 8601, but milliseconds for old clients: they never `connect`."""
    return {
        "message": f"pong: {params.message}" if params.message else "pong",
        "timestamp": wire.now() if connection.connected else int(time.time() * 1000),
        "protocolVersion": PROTOCOL_VERSION,
    }


@methods.runtime("status.get", Empty)
async def status(connection: "Connection", params: Empty) -> dict[str, Any]:
    """The runtime's version and that of its protocol."""
    return {"version": __version__, "protocolVersion": PROTOCOL_VERSION}


@methods.runtime("runtime.shutdown", Empty, inline=True)
async def shutdown(connection: "Connection", params: Empty) -> None:
    """Unload every session; later requests are error -32000, and the process may be ended."""
    runtime = connection.runtime
    for session_id in tuple(runtime.sessions):
        await runtime.unload(session_id)
    connection.settings.stopping.set()
