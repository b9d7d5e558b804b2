"""What the runtime says of itself and of its sessions."""

from turnwright.protocol.events.session import Context
from turnwright.protocol.wire import Wire


class SessionInfo(Wire):
    """A session in the list; times are ISO 8601, `summary` its name or how it began."""

    session_id: str
    start_time: str
    modified_time: str
    summary: str | None = None
    name: str | None = None
    client_name: str | None = None
    context: Context | None = None
    is_remote: bool = False
    is_detached: bool = False


class Listing(Wire):
    """The answer to `session.list`."""

    sessions: list[SessionInfo]


class Deleted(Wire):
    """The answer to `session.delete`."""

    success: bool
    error: str | None = None


class Opened(Wire):
    """The answer to `session.create` and `session.resume`."""

    session_id: str
    workspace_path: str | None = None


class Pong(Wire):
    """A sign of life; `timestamp` is in milliseconds since 1970."""

    message: str
    timestamp: int | float | str
    protocol_version: int | None = None
