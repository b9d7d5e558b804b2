"""The SDK's entrance: a client of a runtime here, in a child process, or over TCP."""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

import anyio
from anyio.abc import TaskGroup

from turnwright.client import config
from turnwright.client.config import SessionConfig
from turnwright.client.connection import Connection, background
from turnwright.client.in_process import in_process
from turnwright.client.listing import Deleted, Listing, Opened, Pong, SessionInfo
from turnwright.client.requests import METHODS
from turnwright.client.session import Session
from turnwright.client.transports import child_process, tcp
from turnwright.errors import ConfigError, InvalidParams, RequestFailed, SessionNotFound, TurnwrightError
from turnwright.protocol import wire
from turnwright.protocol.options import Durability, ProviderOptions
from turnwright.rpc.messages import METHOD_NOT_FOUND
from turnwright.rpc.transport import Transport

if TYPE_CHECKING:
    from turnwright.client.in_process import ModelSource

CONNECT_SECONDS = 30.0
SHUTDOWN_SECONDS = 10.0


class Client:
    """A client of a runtime, as an async context manager.

    By default the runtime is in this process. `command` starts it as a child process that speaks over its
    stdin and stdout; `address` ("host:port") connects to one that runs, with its `token` if it has one.

    `provider` and `model` are for sessions that bring none. In this process the provider may also be an
    object with the methods of `turnwright.providers.base.Provider`, such as a scripted model. `home` is where
    sessions are kept, by default COPILOT_HOME or `~/.copilot`; `environment` is added to that of the child
    process. `durability` says what a runtime in this process has on the disk before it is seen: "turn",
    "event" or "none". Raises ConfigError when these don't go together.
    """

    def __init__(
        self,
        *,
        command: Sequence[str] | None = None,
        address: str | None = None,
        token: str | None = None,
        provider: "ModelSource | None" = None,
        model: str | None = None,
        home: str | Path | None = None,
        environment: Mapping[str, str] | None = None,
        durability: Durability | None = None,
    ) -> None:
        if command is not None and address is not None:
            raise ConfigError("command and address exclude each other")
        if address is not None and home is not None:
            raise ConfigError("home: the runtime at an address has its own")
        if command is None and environment:
            raise ConfigError("environment: only for a runtime that is started by command")
        elsewhere = command is not None or address is not None
        if elsewhere and not isinstance(provider, ProviderOptions | None):
            raise ConfigError("provider: an object can't be sent to another process; use ProviderOptions")
        if elsewhere and durability is not None:
            raise ConfigError("durability: a runtime in another process has its own")
        self._command = command
        self._address = address
        self._token = token
        self._source = provider
        self._model = model
        self._home = Path(home).expanduser().absolute() if home is not None else None
        self._environment = environment or {}
        self._durability: Durability | None = durability
        self._connected: Connection | None = None
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            tasks = await stack.enter_async_context(background())
            transport = await stack.enter_async_context(self._transport(tasks))
            shared = self._address is not None
            connection = Connection(transport, METHODS, tasks, shared=shared)
            tasks.start_soon(connection.serve)
            stack.push_async_callback(self._leave, connection)
            await self._shake_hands(connection)
            self._connected = connection
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._stack.__aexit__(kind, error, trace)

    async def create_session(
        self, *, session_id: str | None = None, **options: Unpack[SessionConfig]
    ) -> Session:
        """Start a session; its id is a new one unless given. Raises InvalidParams and RequestFailed."""
        if session_id in self._connection.sessions:
            raise InvalidParams(f"session_id: {session_id} is open already")
        if self._model is not None:
            options.setdefault("model", self._model)
        return await self._open("session.create", session_id or wire.new_id(), options)

    async def resume_session(
        self,
        session_id: str,
        *,
        continue_pending_work: bool = False,
        **options: Unpack[SessionConfig],
    ) -> Session:
        """Take up a session, live or logged.

        What was open in the log, a tool's call or a permission question, counts as interrupted; with
        `continue_pending_work` it goes on, and is put to the handlers given here. A session that is open on
        this client is the same object again, with these handlers. Raises SessionNotFound.
        """
        session = await self._open("session.resume", session_id, options, continues=continue_pending_work)
        await session.catch_up(answer=continue_pending_work)
        return session

    async def list_sessions(self) -> list[SessionInfo]:
        """Every session that was ever prompted, the one used last first."""
        return (await self._connection.call("session.list", {}, Listing)).sessions

    async def delete_session(self, session_id: str) -> None:
        """Remove a session with its log. Raises SessionNotFound."""
        deleted = await self._connection.call("session.delete", {"sessionId": session_id}, Deleted)
        if not deleted.success:
            raise SessionNotFound(deleted.error or f"Session not found: {session_id}")
        if session := self._connection.sessions.get(session_id):
            session.close()

    async def ping(self, message: str | None = None) -> Pong:
        """Ask the runtime for a sign of life."""
        return await self._connection.call("ping", {"message": message}, Pong)

    @property
    def _connection(self) -> Connection:
        if self._connected is None:
            raise TurnwrightError("The client is used inside `async with`")
        return self._connected

    async def _open(
        self, method: str, session_id: str, given: SessionConfig, *, continues: bool = False
    ) -> Session:
        if isinstance(self._source, ProviderOptions):
            given.setdefault("provider", self._source)
        handlers, options = config.handlers(given), config.options(given, session_id)
        options.continue_pending_work = continues
        connection = self._connection
        session = connection.sessions.get(session_id)
        is_new = session is None
        if session is None:
            session = Session(session_id, connection)
        session.use(handlers)
        if (on_event := given.get("on_event")) is not None:
            session.on("*", on_event)
        try:
            opened = await connection.call(method, options, Opened)
        except BaseException:
            if is_new:
                session.close()
            raise
        session.workspace_path = opened.workspace_path
        return session

    def _transport(self, tasks: TaskGroup) -> AbstractAsyncContextManager[Transport]:
        if self._address is not None:
            return tcp(self._address)
        if self._command is None:
            return in_process(tasks, self._home, self._source, self._model, self._durability)
        home = {"COPILOT_HOME": str(self._home)} if self._home is not None else {}
        return child_process(self._command, {**os.environ, **home, **self._environment})

    async def _shake_hands(self, connection: Connection) -> None:
        try:
            await connection.call("connect", {"token": self._token}, object, timeout=CONNECT_SECONDS)
        except RequestFailed as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            await connection.call("ping", {}, object, timeout=CONNECT_SECONDS)

    async def _leave(self, connection: Connection) -> None:
        """End what is ours: the sessions and the runtime, or in one that is shared the connection alone."""
        with anyio.CancelScope(shield=True):
            if not connection.shared and connection.is_up:
                with suppress(TurnwrightError, TimeoutError):
                    await connection.call("runtime.shutdown", {}, object, timeout=SHUTDOWN_SECONDS)
            for session in tuple(connection.sessions.values()):
                await session.wind_up()
            await connection.hang_up()
