"""A client, as a session sees it."""

from typing import Protocol

import msgspec

from turnwright.protocol.envelope import Event
from turnwright.protocol.options import SessionOptions


class Client(Protocol):
    """One connection: takes events, answers calls."""

    async def call(self, method: str, params: object, *, timeout: float | None = None) -> msgspec.Raw:
        """Ask the client. Raises RequestFailed, ConnectionClosed or TimeoutError."""
        ...

    def publish(self, session_id: str, event: Event) -> None:
        """Send an event; never blocks, never raises."""
        ...


class Attachment:
    """A client that is attached to a session, with what it asked for when it came."""

    def __init__(self, client: Client, options: SessionOptions, session_id: str) -> None:
        self.client = client
        self.options = options
        self._session_id = session_id

    def publish(self, event: Event) -> None:
        """Send the client an event of the session."""
        self.client.publish(self._session_id, event)
