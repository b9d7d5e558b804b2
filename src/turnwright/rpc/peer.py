"""One side of a connection: it calls, notifies and serves, all at once."""

import logging
from itertools import count
from typing import Protocol

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup
from msgspec import Raw

from turnwright.errors import ConnectionClosed, RequestFailed, TurnwrightError
from turnwright.protocol import wire
from turnwright.rpc import messages, outgoing
from turnwright.rpc.messages import INVALID_REQUEST, PARSE_ERROR, ErrorBody, Refusal, Request, Response
from turnwright.rpc.outbox import OUTBOX_LIMIT, Outbox
from turnwright.rpc.transport import Transport

_FLUSH_SECONDS = 1.0

log = logging.getLogger(__name__)


class Handler(Protocol):
    """Serves requests and notifications; `Router` is one."""

    def inline(self, method: str) -> bool:
        """Tell whether `method` must be finished before the next message is read."""
        ...

    async def __call__(self, request: Request) -> object:
        """Return the result, which is then encoded; raise a TurnwrightError to answer with an error."""
        ...


class _Waiter:
    """A call that waits; woken without a response, it learns that none will come."""

    def __init__(self) -> None:
        self.woken = anyio.Event()
        self.response: Response | None = None


class Peer:
    """A symmetric JSON-RPC 2.0 endpoint.

    `name` tells connections apart in the log. `outbox_limit` is in bytes; a connection whose reader falls
    behind by more is dropped.
    """

    def __init__(
        self,
        transport: Transport,
        handler: Handler,
        *,
        name: str = "peer",
        outbox_limit: int = OUTBOX_LIMIT,
    ) -> None:
        self._transport = transport
        self._handler = handler
        self._name = name
        self._outbox = Outbox(transport, outbox_limit)
        self._reading = anyio.CancelScope()
        self._ids = count(1)
        self._waiters: dict[bytes, _Waiter] = {}
        self._unstarted = 0  # tasks of requests that have not run their first step
        self._closed = False

    async def run(self) -> None:
        """Serve until the other side hangs up, or `close`; then wake all callers and stop all handlers."""
        try:
            async with anyio.create_task_group() as writing:
                writing.start_soon(self._write)
                async with anyio.create_task_group() as handlers:
                    try:
                        with self._reading:
                            await self._read(handlers)
                        await self._let_handlers_begin()
                    finally:
                        self._hang_up()
                    handlers.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(_FLUSH_SECONDS, shield=True):
                await self._transport.aclose()

    async def call(self, method: str, params: object, *, timeout: float | None = None) -> Raw:
        """Call the other side and return its result.

        `params` encodes to an object; `timeout` is in seconds. Raises RequestFailed for an error or a
        malformed answer, TimeoutError, and ConnectionClosed when no answer can come any more.
        """
        number = next(self._ids)
        waiter = self._waiters[b"%d" % number] = _Waiter()
        try:
            self.post(outgoing.call(number, method, params))
            with anyio.fail_after(timeout):
                if not self._closed:
                    await waiter.woken.wait()
        finally:
            del self._waiters[b"%d" % number]
        if waiter.response is None:
            raise ConnectionClosed(f"The connection closed before {method} was answered")
        return messages.result_of(method, waiter.response)

    def notify(self, method: str, params: object) -> None:
        """Queue a notification behind all that was queued before; never waits.

        `params` encodes to an object, or is one already as Raw. Nothing happens on a closed connection.
        """
        self.post(outgoing.notification(method, params))

    def post(self, message: bytes) -> None:
        """Queue a message that is encoded whole; else as `notify`."""
        if not self._closed and not self._outbox.put(message):
            self._drop()

    def close(self) -> None:
        """End `run`: what is queued is still sent, for a second at most."""
        self._reading.cancel()

    async def _write(self) -> None:
        await self._outbox.run()
        self.close()  # a transport that can't be written to is of no use for reading

    async def _read(self, handlers: TaskGroup) -> None:
        while True:
            try:
                data = await self._transport.receive()
            except RequestFailed as error:
                self._refuse(Refusal(wire.NULL, ErrorBody(error.code, str(error), error.data)))
                continue
            except ConnectionClosed as error:
                self._refuse(Refusal(wire.NULL, ErrorBody(PARSE_ERROR, str(error))))
                return
            if data is None:
                return
            match messages.parse(data):
                case Request() as request:
                    await self._serve(request, handlers)
                case Response() as response:
                    self._deliver(response)
                case Refusal() as refusal:
                    self._refuse(refusal)

    async def _serve(self, request: Request, handlers: TaskGroup) -> None:
        if self._handler.inline(request.method):
            await self._let_handlers_begin()
            await self._answer(request)
        else:
            self._unstarted += 1
            handlers.start_soon(self._start, request)

    async def _let_handlers_begin(self) -> None:
        """Keep to the order of arrival: what came before runs up to its first wait."""
        if self._unstarted:
            await anyio.lowlevel.checkpoint()

    async def _start(self, request: Request) -> None:
        self._unstarted -= 1
        await self._answer(request)

    async def _answer(self, request: Request) -> None:
        """Handle `request` and queue the answer, if one is expected."""
        try:
            result = await self._handler(request)
            if request.id is not None:
                self.post(outgoing.success(request.id, result))
            return
        except TurnwrightError as error:
            failure = outgoing.describe(request.method, error)
        except Exception:  # a fault in one handler must not end the connection
            log.exception("%s: %s failed", self._name, request.method)
            failure = outgoing.internal_error(request.method)
        if request.id is not None:
            self.post(outgoing.failure(request.id, failure))
        else:
            log.debug("%s: notification %s failed: %s", self._name, request.method, failure.message)

    def _deliver(self, response: Response) -> None:
        waiter = self._waiters.get(bytes(response.id))
        if waiter is not None and waiter.response is None:
            waiter.response = response
            waiter.woken.set()
        elif response.empty:
            error = ErrorBody(INVALID_REQUEST, "Invalid Request: no method")
            self._refuse(Refusal(response.id, error))
        else:
            log.debug("%s: answer %s is late or unasked for", self._name, bytes(response.id))

    def _refuse(self, refusal: Refusal) -> None:
        log.warning("%s: refused a message: %s", self._name, refusal.error.message)
        self.post(outgoing.failure(refusal.id, refusal.error))

    def _drop(self) -> None:
        log.warning("%s: dropped, because it does not read what it is sent", self._name)
        self._outbox.abandon()
        self._hang_up()
        self.close()

    def _hang_up(self) -> None:
        """Take no more messages and wake every caller."""
        self._closed = True
        self._outbox.finish(_FLUSH_SECONDS)
        for waiter in self._waiters.values():
            waiter.woken.set()
