"""What a chat-completions request must look like, as strictly as the interface is documented."""

import re

from turnwright.protocol.wire import Json
from turnwright.providers.loose import an_array, an_object
from turnwright.testing.answer_formats import openai_format_faults
from turnwright.testing.shapes import NAME, is_file, is_filled, is_name, is_object_text

# fmt: off
_REQUEST_FIELDS = frozenset({
    "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options",
    "reasoning_effort", "temperature", "top_p", "n", "stop", "max_tokens", "max_completion_tokens",
    "presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "user", "seed",
    "response_format", "metadata", "store", "service_tier", "modalities", "verbosity",
    "prompt_cache_key", "safety_identifier",
})
# fmt: on
_MESSAGE_FIELDS = {
    "system": frozenset({"role", "content", "name"}),
    "developer": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset({"role", "content", "name", "tool_calls", "refusal"}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}
_PARTS = {
    "system": frozenset({"text"}),
    "developer": frozenset({"text"}),
    "user": frozenset({"text", "image_url", "input_audio", "file"}),
    "assistant": frozenset({"text", "refusal"}),
    "tool": frozenset({"text"}),
}
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")


def check_chat_request(body: dict[str, Json]) -> list[str]:
    """Say all that is wrong with the body of a chat-completions request; nothing if it is right.

    Stricter than the interface in two points, in which servers with chat templates are too: results come
    in the order of the calls, and arguments are the text of a JSON object.
    """
    wrong = [f"{field}: not a field of a request" for field in body if field not in _REQUEST_FIELDS]
    if not is_filled(body.get("model")):
        wrong.append("model: must be a non-empty string")
    if not isinstance(body.get("stream", False), bool):
        wrong.append("stream: must be a boolean")
    if "stream_options" in body and body.get("stream") is not True:
        wrong.append("stream_options: only allowed with stream")
    if "reasoning_effort" in body and body["reasoning_effort"] not in _EFFORTS:
        wrong.append("reasoning_effort: not one of the documented values")
    if "response_format" in body:
        wrong += _check_format(an_object(body["response_format"]))
    return wrong + _check_tools(body) + _check_messages(body.get("messages"))


def _check_format(given: dict[str, Json]) -> list[str]:
    match given.get("type"):
        case "json_schema":
            return openai_format_faults("response_format.json_schema", given.get("json_schema"))
        case "text" | "json_object":
            return []
        case _:
            return ["response_format.type: not one of the documented values"]


def _check_tools(body: dict[str, Json]) -> list[str]:
    if "tools" not in body:
        return [f"{f}: only allowed with tools" for f in ("tool_choice", "parallel_tool_calls") if f in body]
    tools = an_array(body["tools"])
    if not tools:
        return ["tools: must be a non-empty array, or left out"]
    wrong: list[str] = []
    names: set[str] = set()
    for place, tool in ((f"tools[{n}]", an_object(tool)) for n, tool in enumerate(tools)):
        function = an_object(tool.get("function"))
        name = function.get("name")
        if tool.get("type") != "function":
            wrong.append(f"{place}.type: must be 'function'")
        if not is_name(name):
            wrong.append(f"{place}.function.name: must match {NAME.pattern}")
        elif name in names:
            wrong.append(f"{place}.function.name: {name!r} is there twice")
        else:
            names.add(name)
        if not isinstance(function.get("description", ""), str):
            wrong.append(f"{place}.function.description: must be a string")
        if an_object(function.get("parameters", {"type": "object"})).get("type") != "object":
            wrong.append(f"{place}.function.parameters: must be a JSON Schema of type object")
        if unknown := function.keys() - {"name", "description", "parameters", "strict"}:
            wrong.append(f"{place}.function: {sorted(unknown)} are not fields of a tool")
    return wrong


def _check_messages(messages: Json) -> list[str]:
    if not an_array(messages):
        return ["messages: must be a non-empty array"]
    wrong: list[str] = []
    open_calls: list[str] = []
    for n, message in enumerate(map(an_object, an_array(messages))):
        place = f"messages[{n}]"
        role = message.get("role")
        if not isinstance(role, str) or role not in _MESSAGE_FIELDS:
            wrong.append(f"{place}.role: {role!r} is not a role")
            continue
        wrong += [f"{place}.{f}: not a field of {role}" for f in message if f not in _MESSAGE_FIELDS[role]]
        wrong += _check_content(place, role, message)
        if role == "tool":
            wrong += _check_answer(place, message.get("tool_call_id"), open_calls)
            continue
        wrong += _unanswered(place, open_calls)
        open_calls = _call_ids(message) if role == "assistant" else []
        if role == "assistant" and "tool_calls" in message:
            wrong += _check_calls(f"{place}.tool_calls", message["tool_calls"])
    return wrong + _unanswered("the end of messages", open_calls)


def _check_answer(place: str, call_id: Json, open_calls: list[str]) -> list[str]:
    """Check one tool message, and take its call off the open ones."""
    if call_id not in open_calls:
        return [f"{place}: answers {call_id!r}, which is no open call of the assistant message before it"]
    out_of_order = open_calls[0] != call_id
    open_calls.remove(call_id)
    return [f"{place}: {call_id!r} is answered out of order"] if out_of_order else []


def _unanswered(place: str, open_calls: list[str]) -> list[str]:
    return [f"{place}: call {call_id!r} has no tool message before it" for call_id in open_calls]


def _check_calls(place: str, calls: Json) -> list[str]:
    if not an_array(calls):
        return [f"{place}: must be a non-empty array, or left out"]
    wrong: list[str] = []
    ids: set[str] = set()
    for where, call in ((f"{place}[{n}]", an_object(call)) for n, call in enumerate(an_array(calls))):
        call_id = call.get("id")
        function = an_object(call.get("function"))
        if not is_filled(call_id):
            wrong.append(f"{where}.id: must be a non-empty string")
        elif call_id in ids:
            wrong.append(f"{where}.id: {call_id!r} is there twice")
        else:
            ids.add(call_id)
        if call.get("type") != "function":
            wrong.append(f"{where}.type: must be 'function'")
        if not is_name(function.get("name")):
            wrong.append(f"{where}.function.name: must match {NAME.pattern}")
        if not is_object_text(function.get("arguments")):
            wrong.append(f"{where}.function.arguments: must be the text of a JSON object")
    return wrong


def _check_content(place: str, role: str, message: dict[str, Json]) -> list[str]:
    content = message.get("content")
    if isinstance(content, str):
        return []
    if content is None and role == "assistant" and message.get("tool_calls"):
        return []
    parts = an_array(content)
    if not parts:
        return [f"{place}.content: must be a string or a non-empty array of parts"]
    wrong: list[str] = []
    for where, part in ((f"{place}.content[{n}]", an_object(part)) for n, part in enumerate(parts)):
        kind = part.get("type")
        if not isinstance(kind, str) or kind not in _PARTS[role]:
            wrong.append(f"{where}.type: {kind!r} is not allowed for {role}")
        elif kind == "text" and not isinstance(part.get("text"), str):
            wrong.append(f"{where}.text: must be a string")
        elif kind == "image_url" and not _is_picture(an_object(part.get("image_url")).get("url")):
            wrong.append(f"{where}.image_url.url: must be a URL or a data URL in base64")
        elif kind == "file" and not is_file(an_object(part.get("file"))):
            wrong.append(f"{where}.file: must have a file_id, or a filename and a data URL as file_data")
    return wrong


def _call_ids(message: dict[str, Json]) -> list[str]:
    ids = [an_object(call).get("id") for call in an_array(message.get("tool_calls"))]
    return [call_id for call_id in ids if isinstance(call_id, str)]


def _is_picture(value: Json) -> bool:
    return isinstance(value, str) and re.match(r"https?://|data:image/[\w.+-]+;base64,", value) is not None
