"""The time for which a session is served, and its end."""

import asyncio

import anyio

from turnwright.protocol.events.session import SessionError


class Service:
    """How a live session is ended: by cancelling the `group` of its tasks; `over` is set once its log was let
    go of.

    `kind` and `reason` are for its shutdown; `failure` is why that could not be logged.
    """

    def __init__(self) -> None:
        self.group = anyio.create_task_group()
        self.over = asyncio.Event()
        self.kind = "routine"
        self.reason: str | None = None
        self.failure: SessionError | None = None

    @property
    def is_ending(self) -> bool:
        return self.group.cancel_scope.cancel_called

    def end(self, kind: str, reason: str | None) -> None:
        """Begin to end it."""
        self.kind, self.reason = kind, reason
        self.group.cancel_scope.cancel()
