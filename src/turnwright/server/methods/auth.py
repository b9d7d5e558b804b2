"""Who the user is to the endpoint that a GitHub token opens."""

from typing import TYPE_CHECKING, Any

from turnwright.server.methods.base import Empty, Methods

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table

HOST = "https://github.com"


@methods.runtime("auth.getStatus", Empty)
async def status(connection: "Connection", params: Empty) -> dict[str, Any]:
    """Whether there is a token, and where it came from; the token itself is never told."""
    kind = connection.settings.auth_type
    if kind is None:
        return {"isAuthenticated": False, "statusMessage": "Not authenticated"}
    return {
        "isAuthenticated": True,
        "authType": kind,
        "host": HOST,
        "statusMessage": f"{HOST} (via {kind})",
    }
