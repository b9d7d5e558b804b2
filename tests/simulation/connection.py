"""A client's side of one connection: what it was sent, in order."""

from collections.abc import Callable
from typing import Any

from msgspec import Raw

from tests.simulation.cable import ClientEnd
from tests.simulation.news import News
from tests.simulation.process import Process
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event, parse
from turnwright.protocol.wire import Json
from turnwright.rpc.peer import Peer
from turnwright.rpc.router import Method, Router

PATIENCE = 120.0
"""Seconds that a client waits for an answer."""

Answering = Callable[[str, Json], Any]


class _EventParams(wire.Wire):
    session_id: str
    event: Raw


class Connection:
    """Keeps every event, in the order in which they came; `on_event` hears of each, `answer` of questions."""

    def __init__(
        self, process: Process, end: ClientEnd, on_event: Callable[[Event], None], answer: Answering
    ) -> None:
        self.process = process
        self.events: list[Event] = []
        self.idles = 0
        self.is_open = True
        self.on_event = on_event
        self.answer = answer
        self._end = end
        self._news = News()
        self._peer = Peer(end, Router(_METHODS, self), name="client")

    async def run(self) -> None:
        """Listen until somebody hangs up."""
        try:
            await self._peer.run()
        finally:
            self.is_open = False
            self._news.tell()

    async def call(self, method: str, **params: Any) -> Json:
        """Call a method. Raises RequestFailed, ConnectionClosed, TimeoutError."""
        return wire.loads(await self._peer.call(method, params, timeout=PATIENCE))

    async def hang_up(self) -> None:
        """Break the line, without a word."""
        await self._end.aclose()

    @property
    def persisted(self) -> list[bytes]:
        """What came of the log, line for line."""
        return [event.encoded for event in self.events if not event.ephemeral]

    async def news(self) -> None:
        """Wait for one more event, or the end."""
        await self._news.wait()

    def take(self, event: Event) -> None:
        self.events.append(event)
        self.idles += event.type == "session.idle"
        self.on_event(event)
        self._news.tell()


async def _take(connection: Connection, params: _EventParams) -> None:
    connection.take(parse(bytes(params.event)))


async def _ignore(connection: Connection, params: Raw) -> None:
    pass


async def _hook(connection: Connection, params: dict[str, Any]) -> object:
    return await connection.answer("hook", params)


async def _input(connection: Connection, params: dict[str, Any]) -> object:
    return await connection.answer("input", params)


_METHODS: dict[str, Method[Connection, Any]] = {
    "session.event": Method(_EventParams, _take, inline=True),
    "session.lifecycle": Method(Raw, _ignore, inline=True),
    "hooks.invoke": Method(dict[str, Any], _hook),
    "userInput.request": Method(dict[str, Any], _input),
}
