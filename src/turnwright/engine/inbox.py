"""What a session has been told and has not begun: the queue, and steering for the run in hand."""

from collections import deque
from typing import Any

import anyio
import msgspec

from turnwright.protocol.events.session import Mode


class Prompt(msgspec.Struct, kw_only=True):
    """A message to the session. Without `text`, the run goes on with what the log left pending."""

    message_id: str
    text: str | None
    attachments: list[Any] = msgspec.field(default_factory=list[Any])
    agent_mode: Mode | None = None
    headers: dict[str, str] | None = None
    source: str | None = None
    waited: bool = False


class Inbox:
    """First in, first out; nothing that was put in is ever lost."""

    def __init__(self) -> None:
        self.queued: deque[Prompt] = deque()
        self.steering: deque[Prompt] = deque()
        self._news = anyio.Event()

    def put(self, prompt: Prompt) -> None:
        """Add a prompt at the end of the queue."""
        self.queued.append(prompt)
        self._news.set()

    def steer(self, prompt: Prompt) -> None:
        """Add a message for the run in hand."""
        self.steering.append(prompt)

    async def next(self) -> Prompt:
        """Wait for the next prompt and take it."""
        while not self.queued:
            self._news = anyio.Event()
            await self._news.wait()
        return self.queued.popleft()

    def requeue_steering(self) -> None:
        """What came too late to steer becomes prompts of its own, before all others."""
        self.queued.extendleft(reversed(self.steering))
        self.steering.clear()

    @property
    def empty(self) -> bool:
        return not self.queued and not self.steering
