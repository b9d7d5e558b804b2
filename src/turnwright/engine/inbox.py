"""What a session has been told and has not begun: the queue, and steering for the run in hand."""

import asyncio
from collections import deque
from typing import Any

import msgspec

from turnwright.protocol.events.session import Mode


class Prompt(msgspec.Struct, kw_only=True):
    """A message to the session. Without `text`, the run goes on with what the log left pending."""

    message_id: str
    text: str | None
    attachments: list[Any] = msgspec.field(default_factory=list[Any])
    agent_mode: Mode | None = None
    headers: dict[str, str] | None = None
    response_schema: dict[str, Any] | None = None
    source: str | None = None
    waited: bool = False


class QueuedCommand(msgspec.Struct, frozen=True):
    """A slash command that waits for its turn among the prompts, as it was written."""

    id: str
    text: str


class Inbox:
    """First in, first out; what was put in leaves by its turn, or because a client takes it back.

    While it is on hold nothing leaves; the next thing that is put in ends that.
    """

    def __init__(self) -> None:
        self.queued: deque[Prompt | QueuedCommand] = deque()
        self.steering: deque[Prompt] = deque()
        self._on_hold = False
        self._news = asyncio.Event()

    def put(self, item: Prompt | QueuedCommand) -> None:
        """Add something at the end of the queue."""
        self.queued.append(item)
        self._on_hold = False
        self._news.set()

    def put_first(self, item: Prompt) -> None:
        """Add a message before all others; a hold stays."""
        self.queued.appendleft(item)
        self._news.set()

    def steer(self, prompt: Prompt) -> None:
        """Add a message for the run in hand."""
        self.steering.append(prompt)

    async def next(self) -> Prompt | QueuedCommand | None:
        """Wait for what is next and take it; None when what came was taken back, or is on hold."""
        await self._news.wait()
        return self.queued.popleft() if self.is_ready else None

    def rest(self) -> None:
        """Let `next` wait until something is put in."""
        self._news.clear()

    def drain(self) -> list[Prompt]:
        """Take all messages that wait, steering first."""
        waiting = [*self.steering, *(item for item in self.queued if isinstance(item, Prompt))]
        self.steering.clear()
        self.queued.clear()
        return waiting

    def hold(self) -> None:
        """Let nothing leave until something else is put in."""
        self._on_hold = True

    def remove_last(self) -> bool:
        """Take back what was sent last and still waits; False if nothing does."""
        if self.steering:
            self.steering.pop()
            return True
        for index in reversed(range(len(self.queued))):
            if _is_a_clients(self.queued[index]):
                del self.queued[index]
                return True
        return False

    def clear(self) -> None:
        """Take back everything that clients sent and that still waits."""
        self.steering.clear()
        kept = [item for item in self.queued if not _is_a_clients(item)]
        self.queued = deque(kept)

    def requeue_steering(self) -> None:
        """What came too late to steer becomes prompts of its own, before all others."""
        self.queued.extendleft(reversed(self.steering))
        self.steering.clear()

    @property
    def is_ready(self) -> bool:
        """Whether something may leave the queue now."""
        return bool(self.queued) and not self._on_hold

    @property
    def empty(self) -> bool:
        return not self.queued and not self.steering


def _is_a_clients(item: Prompt | QueuedCommand) -> bool:
    """Whether a client sent it; the runtime's own prompt to go on has no text."""
    return isinstance(item, QueuedCommand) or item.text is not None
