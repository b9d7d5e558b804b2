"""A session as people read it: what was said, what was called, what came of it, turn by turn."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from turnwright.cli.output import brief
from turnwright.protocol import wire
from turnwright.protocol.counted import counted
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.conversation import AssistantMessage, TurnStart, UserMessage
from turnwright.protocol.events.session import (
    Abort,
    AutopilotStopped,
    ModeChanged,
    ModelChange,
    SessionError,
    SessionResume,
    SessionStart,
    TaskComplete,
)
from turnwright.protocol.events.tools import ToolComplete, ToolStart

WIDTH = 100
RESULT_LINES = 10
_TELLING = ("command", "pattern", "path", "question", "url", "summary")
"""The arguments that say most of a call."""


def transcript(events: Iterable[Event]) -> Iterator[str]:
    """The lines of a transcript; turns are counted over the whole session."""
    turns = 0
    for event in events:
        if isinstance(event.data, TurnStart):
            turns += 1
            by = f", sub-agent {event.agent_id}" if event.agent_id else ""
            yield f"\n── turn {turns}{by} · {event.timestamp}"
        else:
            yield from _lines(event)


def call(name: str, arguments: Any) -> str:
    """A tool call in one line."""
    if not isinstance(arguments, dict):
        return brief(f"{name} {arguments or ''}", WIDTH)
    given = cast("dict[str, Any]", arguments)
    told = " ".join(given[key] for key in _TELLING if isinstance(given.get(key), str))
    return brief(f"{name} {told or wire.encode(given).decode()}", WIDTH)


def outcome(done: ToolComplete) -> str:
    """What a call gave, or why it failed."""
    if done.error is not None:
        return done.error.message
    return done.result.content if done.result else ""


def _lines(event: Event) -> Iterator[str]:
    match event.data:
        case SessionStart(session_id=session_id, context=context, selected_model=model):
            yield f"session {session_id} in {context.cwd} · {event.timestamp}"
            if model is not None:
                yield f"model: {model}"
        case SessionResume():
            yield f"\n── resumed · {event.timestamp}"
        case ModelChange(new_model=model):
            yield f"model: {model}"
        case ModeChanged(new_mode=mode):
            yield f"mode: {mode}"
        case UserMessage(is_autopilot_continuation=True):
            yield "\nautopilot: asked the model to go on"
        case UserMessage(content=content) if content:
            yield f"\nuser: {content}"
        case AssistantMessage(content=content) if content:
            yield f"assistant: {content}"
        case ToolStart(tool_name=name, arguments=arguments):
            yield f"→ {call(name, arguments)}"
        case ToolComplete() as done:
            yield from _result(done)
        case TaskComplete(summary=summary):
            yield f"task complete: {summary or 'yes'}"
        case AutopilotStopped(reason=reason):
            yield f"autopilot stopped: {reason}"
        case SessionError(message=message):
            yield f"error: {message}"
        case Abort(reason=reason):
            yield f"aborted: {reason}"
        case _:
            pass


def _result(done: ToolComplete) -> Iterator[str]:
    lines = outcome(done).strip().splitlines()
    mark = "←" if done.success else "✗"
    for line in lines[:RESULT_LINES]:
        yield f"  {mark} {brief(line, WIDTH)}"
        mark = " "
    if len(lines) > RESULT_LINES:
        yield f"    ({counted(len(lines) - RESULT_LINES, 'more line')})"
