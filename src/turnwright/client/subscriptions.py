"""The app's event handlers: called one at a time and in order, apart from what reads the wire."""

from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import anyio

from turnwright.client import app_code
from turnwright.protocol.envelope import Event

EventHandler = Callable[[Any], object]

EVERY_TYPE = "*"

_serving: ContextVar["Subscriptions | None"] = ContextVar("serving", default=None)


class _Subscription:
    def __init__(self, event_type: str, handler: EventHandler) -> None:
        self.event_type = event_type
        self.handler = handler
        self.active = True


class Subscriptions:
    """The handlers of one session and the events that wait for them.

    A handler may call the runtime, since answers are read meanwhile; one that raises leaves a line in the log
    and the others undisturbed.
    """

    def __init__(self) -> None:
        self._subscriptions: list[_Subscription] = []
        self._queue: deque[tuple[_Subscription, Event] | anyio.Event] = deque()
        self._news = anyio.Event()
        self._ending = False

    def add(self, event_type: str, handler: EventHandler) -> Callable[[], None]:
        """Call `handler` with each event of a type, or `*`, from here on; returns what ends that."""
        subscription = _Subscription(event_type, handler)
        self._subscriptions.append(subscription)

        def unsubscribe() -> None:
            if subscription.active:
                subscription.active = False
                self._subscriptions.remove(subscription)

        return unsubscribe

    def put(self, event: Event) -> None:
        """Queue an event for its handlers."""
        for subscription in self._subscriptions:
            if subscription.event_type in (event.type, EVERY_TYPE):
                self._queue.append((subscription, event))
                self._news.set()

    async def serve(self) -> None:
        """Call the handlers, until `end`."""
        _serving.set(self)
        while self._queue or not self._ending:
            if not self._queue:
                self._news = anyio.Event()
                await self._news.wait()
                continue
            match self._queue.popleft():
                case anyio.Event() as reached:
                    reached.set()
                case (subscription, event):
                    if subscription.active:
                        name = f"a handler of {event.type}"
                        await app_code.attempt(name, _handle(subscription.handler, event), lambda _: None)

    async def caught_up(self, seconds: float) -> None:
        """Wait until the handlers have seen all that came so far, for `seconds` at most.

        Called by one of the handlers it returns at once: that one would wait for itself.
        """
        if _serving.get() is self or self._ending:
            return
        reached = anyio.Event()
        self._queue.append(reached)
        self._news.set()
        with anyio.move_on_after(seconds):
            await reached.wait()

    def end(self) -> None:
        """Let `serve` end when the queue is empty."""
        self._ending = True
        self._news.set()


async def _handle(handler: EventHandler, event: Event) -> None:
    await app_code.settled(handler(event))
