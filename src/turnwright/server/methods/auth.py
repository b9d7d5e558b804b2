"""Who the user is to the endpoint that a GitHub token opens."""

from typing import TYPE_CHECKING, Any

from turnwright.protocol.identity import HOST
from turnwright.server.methods.base import Empty, Methods

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table


@methods.runtime("auth.getStatus", Empty)
async def status(connection: "Connection", params: Empty) -> dict[str, Any]:
    """Whether there is a token, and where it came from; the token itself is never told."""
    return told(connection.settings.auth_type)


def told(kind: str | None, host: str = HOST) -> dict[str, Any]:
    """The wire's words for where a token came from; None if there is none."""
    if kind is None:
        return {"isAuthenticated": False, "statusMessage": "Not authenticated"}
    return {
        "isAuthenticated": True,
        "authType": kind,
        "host": host,
        "statusMessage": f"{host} (via {kind})",
    }
