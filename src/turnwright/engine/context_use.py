"""What fills the context window: the system prompt, each tool's definition, each message."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from turnwright.protocol import wire
from turnwright.protocol.message_size import size_of
from turnwright.protocol.messages import Assistant, Message, ToolDefinition, ToolOutput

LABEL_LIMIT = 60


class Weight(msgspec.Struct, frozen=True):
    """A message in the context window with its size, in characters."""

    id: str
    label: str
    role: str
    size: int


def weigh(messages: Sequence[Message]) -> Iterator[Weight]:
    """The size of each message, in their order; a result is labelled with its tool's name."""
    names: dict[str, str] = {}
    for number, message in enumerate(messages):
        if isinstance(message, Assistant):
            names.update((call.id, call.name) for call in message.tool_calls)
        yield Weight(f"message-{number}", _label(message, names), _role(message), size_of(message))


def by_tool(messages: Sequence[Message]) -> Counter[str]:
    """The characters of all results of each tool."""
    names = {call.id: call.name for m in messages if isinstance(m, Assistant) for call in m.tool_calls}
    found = Counter[str]()
    for message in messages:
        if isinstance(message, ToolOutput):
            found[names.get(message.call_id, "unknown")] += len(message.content)
    return found


def by_definition(definitions: Sequence[ToolDefinition]) -> dict[str, int]:
    """The characters of each tool's definition, as JSON."""
    return {definition.name: len(wire.encode(definition)) for definition in definitions}


def _role(message: Message) -> str:
    if isinstance(message, ToolOutput):
        return "tool"
    return "assistant" if isinstance(message, Assistant) else "user"


def _label(message: Message, names: dict[str, str]) -> str:
    if isinstance(message, ToolOutput):
        return f"tool: {names.get(message.call_id, 'unknown')}"
    text = " ".join(message.content.split())
    if not text and isinstance(message, Assistant):
        text = ", ".join(call.name for call in message.tool_calls)
    shown = text if len(text) <= LABEL_LIMIT else text[: LABEL_LIMIT - 1] + "…"
    return f"{_role(message)}: {shown}"
