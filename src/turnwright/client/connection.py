"""The connection to a runtime: typed calls, and the sessions and tasks that live on it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

import anyio
from anyio.abc import TaskGroup

from turnwright.errors import RequestFailed, SessionNotFound
from turnwright.protocol import wire
from turnwright.rpc.peer import Peer
from turnwright.rpc.router import Router
from turnwright.rpc.transport import Transport

if TYPE_CHECKING:
    from turnwright.client.requests import Methods
    from turnwright.client.session import Session

T = TypeVar("T")

FLUSH_SECONDS = 3.0

_NOT_FOUND = "Session not found"


class Connection:
    """A runtime at the other end of `transport`; `shared` when others use it too."""

    def __init__(self, transport: Transport, methods: "Methods", tasks: TaskGroup, *, shared: bool) -> None:
        self.sessions: dict[str, Session] = {}
        self.tasks = tasks
        self.shared = shared
        self._peer = Peer(transport, Router(methods, self.sessions), name="client")
        self._ended = anyio.Event()

    async def call(self, method: str, params: object, kind: type[T], *, timeout: float | None = None) -> T:
        """Call a method of the runtime and decode the answer; `timeout` is in seconds.

        Raises SessionNotFound, RequestFailed for any other error, ConnectionClosed, TimeoutError, and
        InvalidParams for an answer of another shape.
        """
        try:
            return wire.decode(await self._peer.call(method, params, timeout=timeout), kind)
        except RequestFailed as error:
            if _NOT_FOUND in str(error):
                raise SessionNotFound(str(error).rpartition("message: ")[2]) from error
            raise

    async def serve(self) -> None:
        """Read until either side hangs up; then the sessions are closed."""
        try:
            await self._peer.run()
        finally:
            for session in tuple(self.sessions.values()):
                session.close()
            self._ended.set()

    @property
    def is_up(self) -> bool:
        """Whether the other side may still be heard."""
        return not self._ended.is_set()

    async def hang_up(self) -> None:
        """End the connection once what was said is sent, and after three seconds at the latest."""
        self._peer.close()
        with anyio.move_on_after(FLUSH_SECONDS):
            await self._ended.wait()


@asynccontextmanager
async def background() -> AsyncGenerator[TaskGroup, None]:
    """Tasks that are stopped at the block's end; what the block raises goes on as it is, in no group."""
    tasks = anyio.create_task_group()
    await tasks.__aenter__()
    try:
        yield tasks
    finally:
        tasks.cancel_scope.cancel()
        await tasks.__aexit__(None, None, None)
