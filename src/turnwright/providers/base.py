"""What a provider is: one request in, deltas out, one reply."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from turnwright.protocol.messages import Message, Reply, ToolDefinition
from turnwright.protocol.prices import Prices
from turnwright.providers.transport import DIRECT, Departure, Route

__all__ = ["ModelInfo", "ModelRequest", "Progress", "Provider", "Reply"]


class ModelRequest(msgspec.Struct, frozen=True):
    """One model call.

    `messages` is append-only: while `epoch` and `conversation` are as before, it starts with the very
    messages of the last request, so a provider may keep what it encoded. `conversation` identifies the
    session or sub-agent. `route` says with which headers and by whom it is sent. Without `vision` pictures
    are left out; beyond `most_pictures` the oldest are, for a word; without `documents` those are named and
    not shown. `citations` asks for the places in
    documents that an answer rests on, where the API has that. An answer, which is any reply without calls,
    should fit `answer_schema`; with `answer_only` there should be no calls. Both are wishes: servers differ.
    """

    model: str
    system: str
    messages: Sequence[Message]
    tools: tuple[ToolDefinition, ...]
    conversation: str
    epoch: int = 0
    stream: bool = False
    route: Route = DIRECT
    reasoning_effort: str | None = None
    vision: bool = True
    most_pictures: int | None = None
    documents: bool = False
    citations: bool = False
    answer_schema: Mapping[str, Any] | None = None
    answer_only: bool = False


class Progress(Departure, Protocol):
    """Hears of a call as it goes; but for `ready` all methods are quick and never raise."""

    def text(self, delta: str) -> None:
        """More of the answer's text."""
        ...

    def reasoning(self, delta: str) -> None:
        """More of the model's reasoning."""
        ...


class ModelInfo(msgspec.Struct, frozen=True):
    """A model that a provider offers; limits are in tokens, None where nobody says."""

    id: str
    name: str
    context_window: int | None = None
    output_limit: int | None = None
    vision: bool | None = None
    prices: Prices | None = None
    raw: Mapping[str, Any] | None = None


class Provider(Protocol):
    """A source of replies. It sends at most one request for each `respond`, and never retries one it sent."""

    async def respond(self, request: ModelRequest, progress: Progress) -> Reply:
        """Carry out one model call. Raises ProviderError; cancellation closes the request.

        Awaits `progress.ready()` before any of the request is sent, and lets out what that raises.
        """
        ...

    async def models(self, route: Route = DIRECT) -> list[ModelInfo]:
        """The models on offer. Raises ProviderError."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and memory."""
        ...
