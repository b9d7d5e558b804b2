"""The prompts that a session can go back to, with the files that were changed since: a fold of its log."""

from collections.abc import Iterable, Iterator

import msgspec

from turnwright.protocol.envelope import Event
from turnwright.protocol.events.conversation import UserMessage
from turnwright.protocol.events.files import FileCaptured
from turnwright.protocol.events.tools import ToolStart
from turnwright.store.history import OF_THE_RUNTIME
from turnwright.store.salvage import events_of

_NAMES = (b"user.message", b"session.file_captured", b"tool.execution_start")


class Point(msgspec.Struct):
    """A prompt with what its run did: the changes of files, in order, and the names of the tools called."""

    event_id: str
    timestamp: str
    message: UserMessage
    changes: list[FileCaptured] = msgspec.field(default_factory=list[FileCaptured])
    tools: set[str] = msgspec.field(default_factory=set[str])


def points(lines: Iterable[bytes]) -> list[Point]:
    """The points in a log's lines, oldest first."""
    found: list[Point] = []
    for event in _relevant(lines):
        match event.data:
            case UserMessage() as message if event.agent_id is None and _is_point(message):
                found.append(Point(event.id, event.timestamp, message))
            case FileCaptured() as change if found:
                found[-1].changes.append(change)
            case ToolStart(tool_name=name) if found:
                found[-1].tools.add(name)
            case _:
                pass
    return found


def needed(events: Iterable[Event]) -> set[str]:
    """The contents that the points in a log may need."""
    data = (event.data for event in events if event.type == FileCaptured.event_type)
    return {change.before for change in data if isinstance(change, FileCaptured) and change.before}


def _is_point(message: UserMessage) -> bool:
    """Whether it begins a run or steers one; what the runtime says by itself belongs to the prompt before."""
    if message.is_autopilot_continuation:
        return True
    return bool(message.content) and message.source not in OF_THE_RUNTIME


def _relevant(lines: Iterable[bytes]) -> Iterator[Event]:
    """Most lines are others, and needn't be decoded."""
    return events_of(line for line in lines if any(name in line for name in _NAMES))
