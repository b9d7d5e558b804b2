"""Compaction: the conversation so far gives way to a summary that the model writes.

The log keeps everything.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread
import msgspec

from turnwright.engine import checkpoints
from turnwright.engine.models.routing import COMPACTION
from turnwright.engine.own_words import fit
from turnwright.engine.summary import GIVEN_UP, NO_SUMMARY, ask, tokens_used, whole
from turnwright.errors import ProviderError
from turnwright.protocol.events.compaction import CompactionComplete, CompactionStart, Trigger
from turnwright.protocol.messages import Reply, Usage, User
from turnwright.store.history import summary_message

if TYPE_CHECKING:
    from turnwright.engine.session import Session, Sizes

T = TypeVar("T")

log = logging.getLogger(__name__)

AGENT = "compaction"
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
        self._lock = asyncio.Lock()
        self._scopes: list[anyio.CancelScope] = []
        self._attempted = False
        self._left = 0
        self.is_under_way = False

    def is_due(self, share: float, sizes: "Sizes") -> bool:
        """Whether the window is full beyond a share of it, and summarising can help.

        It can't when little was said, when the last summary left the conversation about as long as it is, or,
        after a first attempt, when the prompt and the tools alone fill that share.
        """
        room = share * sizes.limit
        if sizes.total < room or whole(self._s.journal.history) < FEWEST_MESSAGES:
            return False
        if self._attempted and sizes.system + sizes.tools >= room:
            return False
        return sizes.conversation > self._left * GROWTH

    @property
    def is_running(self) -> bool:
        """Whether a summary is being written, for whatever it is."""
        return self._lock.locked()

    def cancel(self) -> bool:
        """Give up a summary that is being written, and one that waits for it; False when there is none."""
        for scope in self._scopes:
            scope.cancel()
        return bool(self._scopes)

    async def run(self, trigger: Trigger, instructions: str | None = None) -> CompactionComplete | None:
        """Summarise what there is now; None where another compaction was under way, and was waited for.

        A summary for somebody else leaves the conversation as long as it is: that one is only waited for.
        """
        if self.is_under_way:
            async with self._lock:
                return None
        self.is_under_way = True
        try:
            done = await self.alone(lambda scope: self._compact(trigger, instructions, scope))
            return done or CompactionComplete(False, trigger, GIVEN_UP)
        finally:
            self.is_under_way = False

    async def alone(self, summarise: Callable[[anyio.CancelScope], Awaitable[T]]) -> T | None:
        """Write a summary while no other is written; None when it was given up, by the scope that it gets."""
        scope = anyio.CancelScope()
        self._scopes.append(scope)
        try:
            with scope:
                async with self._lock:
                    return await summarise(scope)
        finally:
            self._scopes.remove(scope)
        return None

    async def _compact(
        self, trigger: Trigger, instructions: str | None, scope: anyio.CancelScope
    ) -> CompactionComplete:
        s = self._s
        self._attempted = True
        await s.choice.settle()
        sizes, cut = s.context_sizes(), whole(self._s.journal.history)
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
            asked = f"{INSTRUCTIONS}\n\n{instructions}" if instructions else INSTRUCTIONS
            turn_id = str(s.journal.state.compactions)
            reply, took = await ask(s, asked, cut, agent=AGENT, turn_id=turn_id, interaction=COMPACTION)
        except ProviderError as error:
            done.error = str(error)
        else:
            done.error = None if reply.content.strip() else NO_SUMMARY
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
            if scope.cancel_called:  # what it stands for may be gone
                done.success, done.error, done.summary_content = False, GIVEN_UP, None
            s.emit(done)
            if done.success:
                s.journal.record()
            self._left = s.context_sizes().conversation
        return done

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
