"""Compaction: the conversation so far gives way to a summary that the model writes.

Its request is a turn like any other, with an agentId of its own, and no `assistant.message`: a client that
waits for the answer must not take the summary for it. The log keeps everything.
"""

import logging
import time
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import msgspec

from turnwright.engine import checkpoints
from turnwright.engine.models.routing import COMPACTION
from turnwright.engine.own_words import fit
from turnwright.errors import ProviderError
from turnwright.protocol.events.compaction import CompactionComplete, CompactionStart, Trigger
from turnwright.protocol.events.conversation import TurnEnd, TurnStart
from turnwright.protocol.events.session import UsageRecord
from turnwright.protocol.messages import Reply, Usage, User
from turnwright.providers.base import ModelRequest
from turnwright.store.history import summary_message

if TYPE_CHECKING:
    from turnwright.engine.session import Session, Sizes

log = logging.getLogger(__name__)

AGENT = "compaction"
GIVEN_UP = "The summary was given up."
FEWEST_MESSAGES = 2
GROWTH = 2.0
WORDS_SHARE = 0.1
"""How much of the window the user's own words may take beside a summary."""

INSTRUCTIONS = (
    "Please create a detailed summary of the conversation so far. The history is being compacted: what you "
    "write takes its place, and you go on from it without seeing the rest again. Call no tools. Write these "
    "sections:\n"
    "<overview>what the user wants, and where the work stands</overview>\n"
    "<history>what was said and done, in order, with every result that still matters</history>\n"
    "<technical_details>names, paths, values, decisions and their reasons</technical_details>\n"
    "<next_steps>what is left to do</next_steps>\n"
    "<checkpoint_title>two to six words</checkpoint_title>"
)


class Compaction:
    """Decides when the conversation is summarised, and does it: never twice at once."""

    def __init__(self, s: "Session") -> None:
        self._s = s
        self._lock = anyio.Lock()
        self._scope: anyio.CancelScope | None = None
        self._attempted = False
        self._left = 0

    def is_due(self, share: float) -> bool:
        """Whether the window is full beyond a share of it, and summarising can help.

        It can't when little was said, when the last summary left the conversation about as long as it is, or,
        after a first attempt, when the prompt and the tools alone fill that share.
        """
        sizes = self._s.context_sizes()
        room = share * sizes.limit
        if sizes.total < room or self._cut() < FEWEST_MESSAGES:
            return False
        if self._attempted and sizes.system + sizes.tools >= room:
            return False
        return sizes.conversation > self._left * GROWTH

    @property
    def is_running(self) -> bool:
        return self._lock.locked()

    def cancel(self) -> bool:
        """Give up a summary that is being written; False when there is none."""
        if self._scope is None:
            return False
        self._scope.cancel()
        return True

    async def run(self, trigger: Trigger, instructions: str | None = None) -> CompactionComplete | None:
        """Summarise what there is now; wait for one that is under way instead of starting a second."""
        if self._lock.locked():
            async with self._lock:
                return None
        async with self._lock:
            done: CompactionComplete | None = None
            with anyio.CancelScope() as self._scope:
                done = await self._compact(trigger, instructions)
            self._scope = None
            return done

    async def _compact(self, trigger: Trigger, instructions: str | None) -> CompactionComplete:
        s = self._s
        self._attempted = True
        await s.choice.settle()
        sizes, cut = s.context_sizes(), self._cut()
        s.emit(
            CompactionStart(
                sizes.total, sizes.limit, sizes.system, sizes.conversation, sizes.tools, trigger, s.model
            )
        )
        done = CompactionComplete(
            False,
            trigger,
            GIVEN_UP,
            pre_compaction_tokens=sizes.total,
            pre_compaction_messages_length=cut + 1,
            token_limit=sizes.limit,
            custom_instructions=instructions,
        )
        try:
            reply, took = await self._summarise(cut, instructions)
        except ProviderError as error:
            done.error = str(error)
        else:
            done.error = None if reply.content.strip() else "The model wrote no summary."
            done.success = done.error is None
            done.request_id = reply.provider_call_id
            counted = self._counted(reply, sizes)
            done.compaction_tokens_used = tokens_used(counted, took, s.model)
            if done.success:
                done.user_messages = self._own_words(cut)
                done.summary_content, done.messages_removed = reply.content, cut
                done.checkpoint_number = s.journal.state.compactions + 1
                done.checkpoint_path = await self._checkpoint(done.checkpoint_number, reply.content)
                self._measure(done, sizes.total)
        finally:
            if self._scope is not None and self._scope.cancel_called:  # what it stands for may be gone
                done.success, done.error, done.summary_content = False, GIVEN_UP, None
            s.emit(done)
            self._left = s.context_sizes().conversation
        return done

    def _cut(self) -> int:
        """How many messages can go: never a reply whose calls are still open."""
        history = self._s.journal.history
        return len(history.messages) - (1 if history.open else 0)

    def _counted(self, reply: Reply, sizes: "Sizes") -> Usage:
        """The tokens of a summary: as the model's server counts, or estimated where it doesn't."""
        usage = reply.usage
        return msgspec.structs.replace(
            usage,
            input_tokens=usage.input_tokens or sizes.total + self._s.tokens(len(INSTRUCTIONS)),
            output_tokens=usage.output_tokens or self._s.tokens(len(reply.content)),
        )

    def _own_words(self, cut: int) -> list[str]:
        """What the user wrote in all that was summarised so far, as far as there is room for it."""
        s = self._s
        said = [m.own for m in s.journal.history.messages[:cut] if isinstance(m, User) and m.own]
        room = WORDS_SHARE * s.endpoint.window * s.journal.state.usage.characters_per_token
        return fit([*s.journal.state.user_messages, *said], int(room))

    async def _summarise(self, cut: int, instructions: str | None) -> tuple[Reply, float]:
        """One request to the model, as a turn of its own; how many milliseconds it took."""
        s, history = self._s, self._s.journal.history
        asked = f"{INSTRUCTIONS}\n\n{instructions}" if instructions else INSTRUCTIONS
        messages = [*history.messages[:cut], User(asked)]
        system, epoch = history.system, history.epoch
        turn_id, sent = str(s.journal.state.compactions), _Sent()
        s.emit(TurnStart(turn_id), agent_id=AGENT)
        started = time.perf_counter()
        try:
            request = ModelRequest(
                model=s.endpoint.wire_model,
                system=system,
                messages=messages,
                tools=s.tools.definitions,
                conversation=f"{s.id}/{AGENT}",
                epoch=epoch,
                route=await s.route(agent=AGENT, interaction=COMPACTION),
                vision=s.endpoint.vision,
                documents=s.endpoint.documents,
            )
            reply = await s.endpoint.provider.respond(request, sent)
            took = (time.perf_counter() - started) * 1000
            usage = tokens_used(reply.usage, took, s.model)
            cost = s.endpoint.cost(reply.usage)
            priced = {} if cost is None else {"costUsd": cost}
            s.emit(UsageRecord({**usage, **priced, "initiator": AGENT}), agent_id=AGENT)
            return reply, took
        finally:
            await s.journal.settle(TurnEnd(turn_id, sent.was_sent), agent_id=AGENT)

    def _measure(self, done: CompactionComplete, before: int) -> None:
        """Estimate what is left, as the history will be."""
        s = self._s
        history = s.journal.history
        removed = history.length(history.messages[: done.messages_removed])
        kept = history.size - removed + len(summary_message(done).content)
        sizes = s.context_sizes(kept)
        done.post_compaction_tokens = sizes.total
        done.tokens_removed = before - sizes.total
        done.system_tokens = sizes.system
        done.conversation_tokens = sizes.conversation
        done.tool_definitions_tokens = sizes.tools

    async def _checkpoint(self, number: int, summary: str) -> str | None:
        """Keep the summary as a file in the session's folder; None when it can't be written."""
        try:
            return str(await anyio.to_thread.run_sync(checkpoints.write, self._s.folder, number, summary))
        except OSError as error:
            log.warning("session %s: can't write a checkpoint: %s", self._s.id, error.strerror)
            return None


class _Sent:
    """Hears only whether the request went out."""

    def __init__(self) -> None:
        self.was_sent = False

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
