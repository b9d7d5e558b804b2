"""How a method is declared: its params, its handler, and what it looks up first."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from turnwright.engine.session import Session
from turnwright.errors import RequestFailed
from turnwright.protocol.wire import Wire
from turnwright.rpc.router import Method

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

Table = dict[str, Method["Connection", Any]]

AUTHENTICATION_FAILED = -32002
SHUTTING_DOWN = -32000


class Empty(Wire):
    """No params."""


class SessionParams(Wire):
    """Params of a method that concerns one session."""

    session_id: str


P = TypeVar("P")
S = TypeVar("S", bound=SessionParams)


class Methods:
    """Collects the methods of one namespace."""

    def __init__(self) -> None:
        self.table: Table = {}

    def runtime(
        self, name: str, params: type[P], *, inline: bool = False, open: bool = False
    ) -> Callable[
        [Callable[["Connection", P], Awaitable[object]]], Callable[["Connection", P], Awaitable[object]]
    ]:
        """Register a method; without `open` only for a client that gave the right token."""

        def register(
            handler: Callable[["Connection", P], Awaitable[object]],
        ) -> Callable[["Connection", P], Awaitable[object]]:
            async def call(connection: "Connection", given: P) -> object:
                check(connection, open)
                return await handler(connection, given)

            self.table[name] = Method(params, call, inline=inline)
            return handler

        return register

    def session(
        self, name: str, params: type[S], *, inline: bool = False
    ) -> Callable[[Callable[[Session, S], Awaitable[object]]], Callable[[Session, S], Awaitable[object]]]:
        """Register a method of a live session, which is looked up first."""

        def register(
            handler: Callable[[Session, S], Awaitable[object]],
        ) -> Callable[[Session, S], Awaitable[object]]:
            async def call(connection: "Connection", given: S) -> object:
                check(connection, False)
                session = connection.runtime.find(given.session_id)
                with session.use:
                    answer = await handler(session, given)
                    await session.journal.caught_up()
                    return answer

            self.table[name] = Method(params, call, inline=inline)
            return handler

        return register


def check(connection: "Connection", open: bool) -> None:
    """Refuse a client without the token, and everyone once the runtime shuts down."""
    if not open and not connection.authenticated:
        raise RequestFailed(AUTHENTICATION_FAILED, "AUTHENTICATION_FAILED")
    if connection.settings.stopping.is_set():
        raise RequestFailed(SHUTTING_DOWN, "SERVER_SHUTTING_DOWN")
