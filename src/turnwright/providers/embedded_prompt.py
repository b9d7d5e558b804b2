"""What a small model is told: a short prompt with an unchanging start, and the history as plain chat."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from turnwright.protocol.messages import Assistant, Message, ToolCall, ToolDefinition, ToolOutput, User
from turnwright.providers.conversation import unshown
from turnwright.providers.embedded_schema import argument_names

OUTPUT_LIMIT = 3000
"""Characters of one tool's output that the model is shown: it reads some 60 to 100 of them in a second."""

APP_PROMPT_LIMIT = 600
"""Characters of the request's own system prompt that the model is shown."""

_SUMMARY_LIMIT = 60
_RULES = """\
You help with the files of one folder. Reply with one JSON object: a tool call, or the final answer.
Never guess what a file holds: call a tool first. To count, let bash count. When the output tells the \
answer, answer at once, with the exact value from it."""
_DECORATION = {"description"}
"""Optional arguments that examples leave out: each word costs a tenth of a second."""
_SAID_HERE = re.compile(
    r"<(tool_efficiency|environment_context|code_change_rules|guidelines|last_instructions)>.*?</\1>\s*",
    re.DOTALL,
)
"""Sections of the runtime's prompt that these rules stand in for."""
_EXAMPLES: tuple[tuple[str, str, dict[str, str], str, str], ...] = (
    (
        "How many lines does notes.txt have?",
        "bash",
        {"command": "wc -l < notes.txt", "description": "Count lines"},
        "17",
        "notes.txt has 17 lines.",
    ),
    (
        "What is the port in app.ini?",
        "grep",
        {"pattern": "port", "path": "app.ini", "output_mode": "content"},
        "port = 8123",
        "The port is 8123.",
    ),
    ("What is line 2 of todo.md?", "view", {"path": "todo.md"}, "1. buy milk\n2. call Ada", "call Ada"),
    (
        "Which file mentions Ada?",
        "grep",
        {"pattern": "Ada", "path": ".", "output_mode": "files_with_matches"},
        "./todo.md",
        "Ada is mentioned in todo.md.",
    ),
)


class ChatMessage(msgspec.Struct, frozen=True):
    """One message as the chat template of the model takes it."""

    role: str
    content: str


def chat(system: str, tools: Sequence[ToolDefinition], messages: Sequence[Message]) -> list[ChatMessage]:
    """Put a whole request into chat messages, alternating between user and assistant."""
    return [ChatMessage("system", system_prompt(system, tools)), *_merged(_history(messages))]


def system_prompt(app: str, tools: Sequence[ToolDefinition]) -> str:
    """The unchanging start, then the request's own prompt, shortened."""
    rest = shortened(_plain(_SAID_HERE.sub("", app).strip()), APP_PROMPT_LIMIT)
    return "\n\n".join(filter(None, (prompt_start(tools), rest)))


def prompt_start(tools: Sequence[ToolDefinition]) -> str:
    """The rules, the tools, and examples of those tools: the same in every session with these tools."""
    parts = [_RULES]
    if tools:
        parts.append("Tools:\n" + "\n".join(_signature(tool) for tool in tools))
    if examples := list(_examples(tools)):
        parts.append("Examples:\n" + "\n".join(examples))
    return _plain("\n\n".join(parts))


def call_text(name: str, arguments: str) -> str:
    """A tool call in the form that the model writes; arguments that aren't JSON are quoted."""
    try:
        value = json.loads(arguments or "{}")
    except ValueError:
        value = arguments
    return json.dumps({"tool": name, "arguments": value}, ensure_ascii=False)


def answer_text(answer: str) -> str:
    """A final answer in the form that the model writes."""
    return json.dumps({"answer": answer}, ensure_ascii=False)


def shortened(text: str, limit: int) -> str:
    """Leave out the middle of a text of more than `limit` characters, and say how much that was."""
    if len(text) <= limit:
        return text
    head, tail = limit // 2, limit - limit // 2
    return f"{text[:head]}\n[... {len(text) - limit} characters left out ...]\n{text[-tail:]}"


def _signature(tool: ToolDefinition) -> str:
    required, optional = argument_names(tool)
    arguments = ", ".join([*required, *(f"{name}?" for name in optional)])
    return f"- {tool.name}({arguments}): {_summary(tool.description)}"


def _summary(description: str) -> str:
    first_line = description.strip().partition("\n")[0]
    sentence = first_line.partition(". ")[0].rstrip(".")
    if len(sentence) <= _SUMMARY_LIMIT:
        return sentence
    return sentence[:_SUMMARY_LIMIT].rpartition(" ")[0] + " ..."


def _examples(tools: Sequence[ToolDefinition]) -> Iterator[str]:
    offered = {tool.name: tool for tool in tools}
    for question, name, arguments, output, answer in _EXAMPLES:
        if name not in offered:
            continue
        required, optional = argument_names(offered[name])
        if not set(required) <= set(arguments):
            continue
        useful = {*optional} - _DECORATION | {*required}
        shown = {key: value for key, value in arguments.items() if key in useful}
        yield (
            f"User: {question}\nReply: {call_text(name, json.dumps(shown))}\n"
            f"Output of {name}: {output}\nReply: {answer_text(answer)}"
        )


def _history(messages: Iterable[Message]) -> Iterator[ChatMessage]:
    """Write each call next to its output, whatever order several of one reply came in."""
    calls: dict[str, ToolCall] = {}
    for message in messages:
        match message:
            case User(content, documents=documents):
                yield ChatMessage("user", _plain("\n".join([content, *map(unshown, documents)])))
            case Assistant(content, tool_calls):
                calls |= {call.id: call for call in tool_calls}
                if not tool_calls:
                    yield ChatMessage("assistant", _plain(answer_text(content)))
            case ToolOutput(call_id, content):
                call = calls.get(call_id)
                if call is None:
                    continue
                yield ChatMessage("assistant", _plain(call_text(call.name, call.arguments)))
                output = shortened(content.strip(), OUTPUT_LIMIT) or "(nothing)"
                yield ChatMessage("user", _plain(f"Output of {call.name}: {output}"))


def _merged(messages: Iterable[ChatMessage]) -> Iterator[ChatMessage]:
    """Join neighbours of one role, for templates that insist on alternation."""
    held: ChatMessage | None = None
    for message in messages:
        if held is not None and held.role == message.role:
            held = ChatMessage(held.role, f"{held.content}\n\n{message.content}")
            continue
        if held is not None:
            yield held
        held = message
    if held is not None:
        yield held


def _plain(text: str) -> str:
    """Keep text that only quotes a template's control tokens from becoming one."""
    return text.replace("<|", "< |")
