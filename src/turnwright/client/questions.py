"""Questions that come as events, for the app's tools and its word on permissions, and their answers."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

import anyio

from turnwright.client import app_code
from turnwright.client.connection import Connection
from turnwright.client.handlers import Invocation, PermissionDecision, PermissionHandler
from turnwright.client.tool import AppTool
from turnwright.errors import InvalidParams, RequestFailed, TurnwrightError
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.questions import (
    ExternalToolCompleted,
    ExternalToolRequested,
    PermissionCompleted,
    PermissionRequested,
)
from turnwright.protocol.events.session import Abort, Shutdown
from turnwright.protocol.permissions import PermissionRequest
from turnwright.protocol.wire import Wire
from turnwright.rpc.messages import INTERNAL_ERROR

RELEVANT = frozenset(
    kind.event_type
    for kind in (
        ExternalToolCompleted,
        ExternalToolRequested,
        PermissionCompleted,
        PermissionRequested,
        Abort,
        Shutdown,
    )
)
UNAVAILABLE = PermissionDecision("user-not-available")

T = TypeVar("T")

log = logging.getLogger(__name__)


class _Asked(Wire):
    request: PermissionRequest


class Questions:
    """What one session asks this client, and the app's functions that are at work on it.

    Whatever is no longer waited for is cancelled: a question that is settled, all of them at an abort.
    """

    def __init__(self, session_id: str, connection: Connection) -> None:
        self.tools: Mapping[str, AppTool[..., Any]] = {}
        self.on_permission: PermissionHandler | None = None
        self._session_id = session_id
        self._connection = connection
        self._running: dict[object, anyio.CancelScope] = {}
        self._known: set[str] = set()  # ids of questions that were begun here or are settled

    def take(self, event: Event) -> None:
        """Look at the next event."""
        if event.type not in RELEVANT:
            return
        match event.data:
            case ExternalToolRequested() as question if question.tool_name in self.tools:
                self._begin(question.request_id, self._run_tool, question)
            case PermissionRequested(resolved_by_hook=None | False) as question if self.on_permission:
                self._begin(question.request_id, self._decide, question)
            case ExternalToolCompleted(request_id=request_id) | PermissionCompleted(request_id=request_id):
                self._known.add(request_id)
                if scope := self._running.get(request_id):
                    scope.cancel()
            case Abort() | Shutdown():
                self.cancel_all()
            case _:
                pass

    def take_up(self, events: Iterable[Event]) -> None:
        """Answer the questions that a log holds as open."""
        relevant = [event for event in events if event.type in RELEVANT]
        settled = {
            event.data.request_id
            for event in relevant
            if isinstance(event.data, ExternalToolCompleted | PermissionCompleted)
        }
        for event in relevant:
            match event.data:
                case ExternalToolRequested() | PermissionRequested() as question:
                    if question.request_id not in settled:
                        self.take(event)
                case _:
                    pass

    def cancel_all(self) -> None:
        """Stop all that runs here."""
        for scope in self._running.values():
            scope.cancel()

    async def answer_call(self, function: Callable[..., T | Awaitable[T]], *args: object) -> T:
        """Let a function of the app answer a call of the runtime's. Raises RequestFailed at an abort."""
        key = object()
        with anyio.CancelScope() as scope:
            self._running[key] = scope
            try:
                return await app_code.call(function, *args)
            finally:
                del self._running[key]
        raise RequestFailed(INTERNAL_ERROR, "The question was withdrawn")

    def _begin(self, request_id: str, answer: Callable[[Any], Awaitable[None]], question: object) -> None:
        if request_id not in self._known:
            self._known.add(request_id)
            self._running[request_id] = anyio.CancelScope()
            self._connection.tasks.start_soon(self._answer, request_id, answer, question)

    async def _answer(
        self, request_id: str, answer: Callable[[Any], Awaitable[None]], question: object
    ) -> None:
        try:
            with self._running[request_id]:
                await answer(question)
        except TurnwrightError as error:
            log.debug("session %s takes no answer to %s: %s", self._session_id, request_id, error)
        finally:
            del self._running[request_id]

    async def _run_tool(self, question: ExternalToolRequested) -> None:
        invocation = Invocation(
            self._session_id, question.request_id, question.tool_call_id, question.tool_name
        )
        result = await self.tools[question.tool_name].run(question.arguments, invocation)
        await self._send("session.tools.handlePendingToolCall", question.request_id, result)

    async def _decide(self, question: PermissionRequested) -> None:
        decision = await self._decision(question)
        if decision.kind != "no-result":
            method = "session.permissions.handlePendingPermissionRequest"
            await self._send(method, question.request_id, decision)

    async def _decision(self, question: PermissionRequested) -> PermissionDecision:
        try:
            request = wire.convert({"request": question.permission_request}, _Asked).request
        except InvalidParams as error:
            log.warning("denied, because nobody here knows what it asks: %s", error)
            return UNAVAILABLE
        assert self.on_permission is not None
        invocation = Invocation(self._session_id, question.request_id, request.tool_call_id)
        return await app_code.attempt(
            "on_permission",
            _decided(app_code.call(self.on_permission, request, invocation)),
            lambda _: UNAVAILABLE,
        )

    async def _send(self, method: str, request_id: str, result: object) -> None:
        params = {"sessionId": self._session_id, "requestId": request_id, "result": result}
        await self._connection.call(method, params, object)


async def _decided(answer: Awaitable[str | PermissionDecision]) -> PermissionDecision:
    """A handler's answer as a decision. Raises InvalidParams when it is none."""
    given = await answer
    return (
        given if isinstance(given, PermissionDecision) else wire.convert({"kind": given}, PermissionDecision)
    )
