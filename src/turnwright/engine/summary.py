"""Asking the model for a summary of what was said.

The request is a turn like any other, with an agentId of its own, and no `assistant.message`: a client that
waits for the answer must not take the summary for it.
"""

import time
from typing import TYPE_CHECKING

import anyio

from turnwright.engine.journal.journal import Journal
from turnwright.engine.turn_end import end_turn
from turnwright.protocol.events.conversation import TurnStart
from turnwright.protocol.events.session import UsageRecord
from turnwright.protocol.messages import Reply, Usage, User
from turnwright.providers.base import ModelRequest
from turnwright.store.history import History

if TYPE_CHECKING:
    from turnwright.engine.session import Session


GIVEN_UP = "The summary was given up."
NO_SUMMARY = "The model wrote no summary."


def whole(history: History) -> int:
    """How many of the messages can be summarised: never a reply whose calls are still open."""
    return len(history.messages) - (1 if history.open else 0)


async def ask(
    s: "Session", instructions: str, count: int, *, agent: str, turn_id: str, interaction: str
) -> tuple[Reply, float]:
    """Have the first `count` messages summarised; how many milliseconds it took. Raises ProviderError."""
    history = s.journal.history
    messages = [*history.messages[:count], User(instructions)]
    system, epoch, sent = history.system, history.epoch, _Sent(s.journal)
    s.emit(TurnStart(turn_id), agent_id=agent)
    started = time.perf_counter()
    try:
        request = ModelRequest(
            model=s.endpoint.wire_model,
            system=system,
            messages=messages,
            tools=s.tools.definitions,
            conversation=f"{s.id}/{agent}",
            epoch=epoch,
            route=await s.route(agent=agent, interaction=interaction),
            vision=s.endpoint.vision,
            most_pictures=s.endpoint.pictures.most_in_request,
            documents=s.endpoint.documents,
        )
        reply = await s.endpoint.provider.respond(request, sent)
        took = (time.perf_counter() - started) * 1000
        usage = tokens_used(reply.usage, took, s.model)
        cost = s.endpoint.cost(reply.usage)
        priced = {} if cost is None else {"costUsd": cost}
        s.emit(UsageRecord({**usage, **priced, "initiator": agent}), agent_id=agent)
        return reply, took
    finally:
        end_turn(s, turn_id, was_sent=sent.was_sent, agent_id=agent)
        with anyio.CancelScope(shield=True):
            await s.journal.settled(sent.refusals)


class _Sent:
    """Hears only whether the request went out."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.refusals = journal.refusals
        self.was_sent = False

    async def ready(self) -> None:
        await self._journal.settled(self.refusals)

    def sent(self) -> None:
        self.was_sent = True

    def text(self, delta: str) -> None:
        pass

    def reasoning(self, delta: str) -> None:
        pass


def tokens_used(usage: Usage, milliseconds: float, model: str) -> dict[str, object]:
    """What a summary cost, in the wire's shape."""
    return {
        "model": model,
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cacheReadTokens": usage.cache_read_tokens,
        "cacheWriteTokens": usage.cache_write_tokens,
        "duration": round(milliseconds),
    }
