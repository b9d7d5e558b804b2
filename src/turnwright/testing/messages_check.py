"""What a request for Anthropic's messages must look like, as strictly as the interface is documented."""

from collections.abc import Iterator, Mapping
from typing import Any

from turnwright.protocol.wire import Json
from turnwright.providers.loose import a_count, a_text, an_array, an_object
from turnwright.testing.answer_formats import anthropic_format_faults
from turnwright.testing.messages_blocks import block_faults
from turnwright.testing.shapes import NAME, is_filled, is_name, unknown_fields

# fmt: off
_REQUEST_FIELDS = frozenset({
    "model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream", "thinking",
    "output_config", "temperature", "top_p", "top_k", "stop_sequences", "metadata", "service_tier",
    "cache_control",
})
# fmt: on
_TOOL_FIELDS = frozenset({"name", "description", "input_schema", "cache_control", "type", "strict"})
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_THINKING = ("thinking", "redacted_thinking")
_MOST_MARKS = 4
_SMALLEST_BUDGET = 1024


def check_messages_request(body: dict[str, Json], headers: Mapping[str, str]) -> list[str]:
    """Say all that is wrong with a request for messages; nothing if it is right.

    Stricter than the interface in three points: roles alternate, results come in the order of the calls, and
    the last message is the user's.
    """
    wrong = [f"{field}: not a field of a request" for field in body if field not in _REQUEST_FIELDS]
    if not headers.get("anthropic-version"):
        wrong.append("anthropic-version: header is required")
    if not is_filled(body.get("model")):
        wrong.append("model: must be a non-empty string")
    if not a_count(body.get("max_tokens")):
        wrong.append("max_tokens: must be a number of at least 1")
    if not isinstance(body.get("stream", False), bool):
        wrong.append("stream: must be a boolean")
    if (marks := sum(1 for _ in _marks(body))) > _MOST_MARKS:
        wrong.append(f"cache_control: {marks} blocks have it, and {_MOST_MARKS} may")
    wrong += [
        f"cache_control: {mark!r} is not of type ephemeral" for mark in _marks(body) if not _is_mark(mark)
    ]
    return [
        *wrong,
        *_output_faults(body),
        *_tool_faults(body),
        *_system_faults(body.get("system", "none")),
        *_message_faults(body.get("messages")),
        *_citation_faults(body),
    ]


def _citation_faults(body: dict[str, Json]) -> list[str]:
    """Either all documents are cited or none, and not in an answer that must have a format."""
    blocks = [
        an_object(block) for m in an_array(body.get("messages")) for block in an_array(m.get("content"))
    ]
    documents = [block for block in blocks if block.get("type") == "document"]
    cited = {an_object(document.get("citations")).get("enabled") is True for document in documents}
    wrong = ["messages: citations must be enabled for all documents or for none"] if len(cited) > 1 else []
    if True in cited and "format" in an_object(body.get("output_config")):
        wrong.append("output_config.format: not together with citations")
    return wrong


def _marks(value: Json) -> Iterator[Json]:
    """Find every mark, wherever the interface has them: not inside a call's input or a tool's schema."""
    for item in an_array(value):
        yield from _marks(item)
    for name, item in an_object(value).items():
        if name == "cache_control":
            yield item
        elif name not in ("input", "input_schema"):
            yield from _marks(item)


def _is_mark(mark: Json) -> bool:
    return an_object(mark).get("type") == "ephemeral"


def _output_faults(body: dict[str, Json]) -> list[str]:
    effort = an_object(body.get("output_config")).get("effort", "high")
    wrong = [] if effort in _EFFORTS else [f"output_config.effort: {effort!r} is not one of {_EFFORTS}"]
    if "format" in an_object(body.get("output_config")):
        wrong += anthropic_format_faults("output_config.format", body["output_config"]["format"])
    setting = an_object(body.get("thinking", {"type": "disabled"}))
    if setting.get("type") not in ("enabled", "adaptive", "disabled"):
        wrong.append("thinking.type: not one of the documented values")
    if setting.get("type") != "enabled":
        return wrong
    budget = a_count(setting.get("budget_tokens")) or 0
    if not _SMALLEST_BUDGET <= budget < (a_count(body.get("max_tokens")) or 0):
        wrong.append("thinking.budget_tokens: must be at least 1024 and less than max_tokens")
    if _last_calls_are_bare(an_array(body.get("messages"))):
        wrong.append("messages: with thinking, the last message with calls must start with thinking")
    return wrong


def _last_calls_are_bare(messages: list[Any]) -> bool:
    if len(messages) < 2 or "tool_result" not in _kinds(messages[-1]):
        return False
    return _kinds(messages[-2])[0] not in _THINKING


def _kinds(message: Json) -> list[str]:
    """The types of a message's blocks."""
    blocks = an_array(an_object(message).get("content"))
    return [a_text(an_object(block).get("type")) for block in blocks] or ["text"]


def _tool_faults(body: dict[str, Json]) -> list[str]:
    wrong = [] if "tools" in body or "tool_choice" not in body else ["tool_choice: only allowed with tools"]
    names: set[str] = set()
    for place, tool in ((f"tools.{n}", an_object(t)) for n, t in enumerate(an_array(body.get("tools")))):
        name = tool.get("name")
        if not is_name(name) or name in names:
            wrong.append(f"{place}.name: must match {NAME.pattern} and be there once")
        else:
            names.add(name)
        if not isinstance(tool.get("description", ""), str):
            wrong.append(f"{place}.description: must be a string")
        if an_object(tool.get("input_schema")).get("type") != "object":
            wrong.append(f"{place}.input_schema.type: must be 'object'")
        wrong += unknown_fields(place, tool, _TOOL_FIELDS)
    return wrong


def _system_faults(system: Json) -> list[str]:
    if isinstance(system, str):
        return [] if system else ["system: must not be empty"]
    blocks = an_array(system)
    if not blocks:
        return ["system: must be a string or a non-empty array of text blocks"]
    return [fault for n, block in enumerate(blocks) for fault in block_faults(f"system.{n}", "system", block)]


def _message_faults(messages: Json) -> list[str]:
    if not an_array(messages):
        return ["messages: must be a non-empty array"]
    wrong: list[str] = []
    open_calls: list[str] = []
    used: set[str] = set()
    expected = "user"
    for n, message in enumerate(map(an_object, an_array(messages))):
        place = f"messages.{n}"
        role = a_text(message.get("role"))
        if role != expected:
            wrong.append(f"{place}.role: {role!r} where it is the turn of {expected!r}")
        expected = "assistant" if role == "user" else "user"
        wrong += unknown_fields(place, message, frozenset({"role", "content"}))
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else an_array(content)
        if not blocks:
            wrong.append(f"{place}.content: must be a non-empty string or array of blocks")
        for m, block in enumerate(blocks):
            wrong += block_faults(f"{place}.content.{m}", role, block)
        wrong += _result_faults(place, list(map(an_object, blocks)), open_calls)
        open_calls = _call_ids(blocks) if role == "assistant" else []
        wrong += [f"{place}: call id {i!r} was used before" for i in open_calls if i in used]
        used.update(open_calls)
        if role == "assistant" and blocks and _kinds(message)[-1] in _THINKING:
            wrong.append(f"{place}: the last block of an assistant message cannot be thinking")
    if expected != "assistant":
        wrong.append("messages: the conversation must end with a user message")
    return wrong


def _result_faults(place: str, blocks: list[dict[str, Json]], open_calls: list[str]) -> list[str]:
    """Check that a message answers all open calls, in their order and before all else."""
    results = [n for n, block in enumerate(blocks) if block.get("type") == "tool_result"]
    answered = [blocks[n].get("tool_use_id") for n in results]
    wrong: list[str] = []
    if answered != open_calls:
        wrong.append(f"{place}: must answer the calls {open_calls} and answers {answered}")
    if results != list(range(len(results))):
        wrong.append(f"{place}: results must come before other content")
    return wrong


def _call_ids(blocks: list[Any]) -> list[str]:
    calls = (block for block in map(an_object, blocks) if block.get("type") == "tool_use")
    return [a_text(block.get("id")) for block in calls]
