"""What a session still knows of a log of which another program took the end, as events that log it again."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from turnwright.protocol.events import Data
from turnwright.protocol.events.compaction import CompactionComplete
from turnwright.protocol.events.session import ModeChanged, Renamed, Warned
from turnwright.protocol.messages import Assistant, Message, ToolOutput
from turnwright.store.history import History
from turnwright.store.state import State

TOLD = "Another program cut the session's log. What was said stands in it again, in the words of a summary."


def brought_back(known: State, said: History, left: State, left_said: History) -> Iterator[Data]:
    """The events that give a log of which `left` is left what the session knew: its start, and what was said.

    The turns themselves are gone. What was said takes the place of a summary, which stands for messages that
    the log doesn't hold.
    """
    if left.start is None and known.start is not None:
        yield replace(
            known.start,
            context=known.context or known.start.context,
            selected_model=known.model,
            reasoning_effort=known.reasoning_effort,
            session_limits=known.limits,
        )
    if left.mode != known.mode:
        yield ModeChanged(left.mode, known.mode)
    if known.name is not None and left.name != known.name:
        yield Renamed(known.name)
    said.close()
    left_said.close()
    if said.messages:
        yield CompactionComplete(
            True,
            "manual",
            summary_content=transcript(said.messages),
            messages_removed=len(left_said.messages),
        )
    yield Warned("log_changed", TOLD)


def transcript(messages: Iterable[Message]) -> str:
    """A conversation as text."""
    return "\n\n".join(text for message in messages for text in _texts(message))


def _texts(message: Message) -> Iterator[str]:
    match message:
        case Assistant(content=content, tool_calls=calls):
            if content:
                yield f"Assistant: {content}"
            yield from (f"Call {call.id}: {call.name} {call.arguments}" for call in calls)
        case ToolOutput(call_id=call_id, content=content):
            yield f"Result of {call_id}: {content}"
        case _:
            yield f"User: {message.content}"
