"""One client's connection: what it may call, and how events reach it."""

import logging
from functools import lru_cache

from msgspec import Raw

from turnwright.engine.lifecycle.summary import Lifecycle
from turnwright.engine.models.inference import Inference
from turnwright.engine.runtime import Runtime
from turnwright.protocol.envelope import Event
from turnwright.rpc.outgoing import notification
from turnwright.rpc.peer import Peer
from turnwright.rpc.router import Router
from turnwright.rpc.transport import Transport
from turnwright.server.settings import Settings
from turnwright.server.table import METHODS

log = logging.getLogger(__name__)

MOST_SESSIONS = 4096
"""Sessions that may be busy at once before what frames their events is made anew for each event."""


class Connection:
    """A client, from its first message to its hang-up. It is the context of every method."""

    def __init__(self, runtime: Runtime, settings: Settings, transport: Transport, name: str) -> None:
        self.runtime = runtime
        self.settings = settings
        self.authenticated = settings.connection_token is None
        self.connected = False
        self.inference: Inference | None = None
        self.peer = Peer(transport, Router(METHODS, self), name=name)

    async def serve(self) -> None:
        """Answer until the client hangs up; its sessions stay live."""
        self.runtime.lifecycle.append(self._lifecycle)
        try:
            await self.peer.run()
        finally:
            self.runtime.lifecycle.remove(self._lifecycle)
            if self.inference is not None:
                self.inference.close()
            for session in tuple(self.runtime.sessions.values()):
                session.clients.detach(self)

    async def call(self, method: str, params: object, *, timeout: float | None = None) -> Raw:
        """Ask the client. Raises RequestFailed, ConnectionClosed or TimeoutError."""
        return await self.peer.call(method, params, timeout=timeout)

    def publish(self, session_id: str, event: Event) -> None:
        """Send the client an event; the bytes are those of the log."""
        before, after = _around_events(session_id)
        self.peer.post(before + event.encoded + after)

    def _lifecycle(self, news: Lifecycle) -> None:
        self.peer.notify("session.lifecycle", news)


@lru_cache(maxsize=MOST_SESSIONS)
def _around_events(session_id: str) -> tuple[bytes, bytes]:
    """What stands before and behind each event of a session on the wire."""
    place = Raw(b'{"sessionId":"%b","event":{}}' % session_id.encode())
    before, _, after = notification("session.event", place).partition(b"{}")
    return before, after
