"""A tool's handler lets the conversation begin anew, with a first message of its own."""

from typing import TYPE_CHECKING

from turnwright.engine.inbox import Prompt
from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.events.compaction import ContextCleared

if TYPE_CHECKING:
    from turnwright.engine.session import Session


def clear_context(s: "Session", prompt: str) -> int:
    """Let the model see nothing of what was said; how many messages that were. The log keeps everything.

    The run ends once its calls are answered, and `prompt` is the next one, before all that waits. Raises
    InvalidParams when no call is in flight, as results that come later would have no place.
    """
    if not prompt.strip():
        raise InvalidParams("prompt: must not be empty: it is the first message of the new conversation")
    if s.run_scope is None or not s.journal.state.open_calls:
        raise InvalidParams("sessionId: no tool call is in flight: call this from inside of a tool's handler")
    s.compaction.cancel()
    cleared = len(s.journal.history.messages)
    seed = Prompt(
        message_id=wire.new_id(),
        text=prompt,
        agent_mode=s.run.mode,
        headers=dict(s.run.headers),
        response_schema=s.run.form.schema if s.run.form else None,
    )
    s.emit(ContextCleared(cleared, prompt, seed.message_id))
    s.run.over, s.run.seed = True, seed
    return cleared


def deliver_seed(s: "Session") -> None:
    """After a run that has cleared the context, let its first message be next."""
    seed, s.run.seed = s.run.seed, None
    if seed is not None:
        s.inbox.put_first(seed)
