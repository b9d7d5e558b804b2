"""A server with a scripted model, and clients that speak to it as apps do: JSON-RPC, and nothing else."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup
from msgspec import Raw

from tests.cases.scene import accounted_for
from turnwright.engine.models.endpoint import Fixed
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event, parse
from turnwright.protocol.options import ProviderOptions
from turnwright.protocol.wire import Json
from turnwright.providers.scripted import Scripted, Step
from turnwright.rpc.peer import Peer
from turnwright.rpc.router import Method, Router
from turnwright.rpc.transport import Transport, memory_pair
from turnwright.server.serve import serve_transport
from turnwright.server.settings import Settings
from turnwright.server.start import started


class _EventParams(wire.Wire):
    session_id: str
    event: Raw


Serves = Mapping[str, Callable[[dict[str, Any]], Awaitable[object]]]
"""What a client does when the server calls one of its methods."""


class WireClient:
    """One connection; keeps every event that it is sent, and does what `serves` says when it is called."""

    def __init__(self, transport: Transport, serves: Serves | None = None) -> None:
        self.events: list[Event] = []
        own = {name: _method(do) for name, do in (serves or {}).items()}
        self.peer = Peer(transport, Router({**_METHODS, **own}, self), name="client")
        self._news = anyio.Event()

    async def call(self, method: str, **params: Any) -> Json:
        """Call a method. Raises RequestFailed."""
        return wire.loads(await self.peer.call(method, params, timeout=10))

    def take(self, event: Event) -> None:
        """Keep an event."""
        self.events.append(event)
        news, self._news = self._news, anyio.Event()
        news.set()

    @property
    def types(self) -> list[str]:
        return [event.type for event in self.events]

    async def until(self, type: str, times: int = 1) -> None:
        """Wait until an event was seen so many times, five seconds at most."""
        with anyio.fail_after(5):
            while self.types.count(type) < times:
                await self._news.wait()


def _method(do: Callable[[dict[str, Any]], Awaitable[object]]) -> "Method[WireClient, Any]":
    async def served(client: WireClient, params: dict[str, Any]) -> object:
        return await do(params)

    return Method(dict[str, Any], served)


async def _take(client: WireClient, params: _EventParams) -> None:
    client.take(parse(bytes(params.event)))


async def _ignore(client: WireClient, params: Raw) -> None:
    pass


_METHODS: Mapping[str, Method[WireClient, Any]] = {
    "session.event": Method(_EventParams, _take, inline=True),
    "session.lifecycle": Method(Raw, _ignore, inline=True),
}


class Server:
    """A runtime over the home's logs that serves every connection given to it."""

    def __init__(
        self,
        home: Path,
        model: Scripted,
        serve: Callable[[Transport], Coroutine[Any, Any, None]],
        tasks: TaskGroup,
    ) -> None:
        self.home = home
        self.model = model
        self._serve = serve
        self._tasks = tasks
        self._opened: list[Transport] = []

    def open(self) -> Transport:
        """A connection without a client, for messages as they are."""
        ours, theirs = memory_pair()
        self.accept(theirs)
        self._opened.append(ours)
        return ours

    def connect(self, transport: Transport | None = None, serves: Serves | None = None) -> WireClient:
        """A client on a new connection, or on that one."""
        client = WireClient(transport or self.open(), serves)
        self._tasks.start_soon(client.peer.run)
        return client

    def accept(self, transport: Transport) -> None:
        """Serve a connection of the test's own."""
        self._tasks.start_soon(self._serve, transport)

    async def close(self) -> None:
        """Hang up on all sides."""
        for transport in self._opened:
            await transport.aclose()
        self._tasks.cancel_scope.cancel()

    def log_of(self, session_id: str) -> Path:
        """The file of a session's log."""
        return self.home / "session-state" / session_id / "events.jsonl"

    def logged(self, session_id: str) -> list[Event]:
        """The events in a session's log."""
        return events_in(self.log_of(session_id))


def events_in(log: Path) -> list[Event]:
    """The events in a log's file."""
    return [parse(line) for line in log.read_bytes().splitlines()]


@asynccontextmanager
async def serving(
    tmp_path: Path,
    script: Iterable[Step] | None = (),
    *,
    provider: ProviderOptions | None = None,
    environment: Mapping[str, str] | None = None,
    api_url: str | None = None,
    users_url: str | None = None,
    shows_endpoints: bool = False,
    idle_timeout: float | None = None,
) -> AsyncGenerator[Server, None]:
    """Start a server whose model follows `script`; in the end every log is right.

    Without a script, sessions use the endpoint `provider` or bring their own, or with a GitHub token the one
    at `api_url`. At `users_url` is asked whose that token is. Sessions that nobody has used for
    `idle_timeout` seconds are unloaded.
    """
    home = tmp_path / "home"
    model = Scripted(script or ())
    endpoints = None if script is None else Fixed(model, "scripted")
    settings = Settings(
        home,
        api_url=api_url,
        users_url=users_url,
        session_idle_timeout=idle_timeout,
        shows_endpoints=shows_endpoints,
    )
    with anyio.fail_after(30):
        async with started(
            settings, provider=provider, endpoints=endpoints, environment=environment or {}
        ) as runtime:

            async def serve(transport: Transport) -> None:
                await serve_transport(runtime, settings, transport, "test")

            async with anyio.create_task_group() as tasks:
                server = Server(home, model, serve, tasks)
                try:
                    yield server
                finally:
                    await server.close()
    for log in home.glob("session-state/*/events.jsonl"):
        accounted_for(events_in(log))
    assert model.problems == []
