"""What a request for OpenAI's responses must look like, as strictly as the interface is documented."""

from turnwright.protocol.wire import Json
from turnwright.providers.loose import a_count, a_text, an_array, an_object
from turnwright.testing.answer_formats import openai_format_faults
from turnwright.testing.responses_items import item_faults
from turnwright.testing.shapes import NAME, is_filled, is_name, unknown_fields

# fmt: off
_REQUEST_FIELDS = frozenset({
    "model", "input", "instructions", "store", "stream", "include", "reasoning", "tools", "tool_choice",
    "parallel_tool_calls", "max_output_tokens", "max_tool_calls", "previous_response_id", "text",
    "truncation", "temperature", "top_p", "top_logprobs", "metadata", "user", "service_tier", "background",
    "prompt_cache_key", "safety_identifier", "stream_options",
})
# fmt: on
_TOOL_FIELDS = frozenset({"type", "name", "description", "parameters", "strict"})
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_SEALED = "reasoning.encrypted_content"


def check_responses_request(body: dict[str, Json]) -> list[str]:
    """Say all that is wrong with the body of a request for a response; nothing if it is right.

    Stricter than the interface in three points: outputs come right after their calls, in the order of the
    calls, and arguments are the text of a JSON object.
    """
    wrong = [f"{field}: not a field of a request" for field in body if field not in _REQUEST_FIELDS]
    if not is_filled(body.get("model")):
        wrong.append("model: must be a non-empty string")
    wrong += [
        f"{field}: must be a boolean"
        for field in ("stream", "store", "parallel_tool_calls")
        if not isinstance(body.get(field, True), bool)
    ]
    if not isinstance(body.get("instructions", ""), str):
        wrong.append("instructions: must be a string")
    if "max_output_tokens" in body and (a_count(body["max_output_tokens"]) or 0) < 16:
        wrong.append("max_output_tokens: must be at least 16")
    if an_object(body.get("reasoning")).get("effort", "low") not in _EFFORTS:
        wrong.append("reasoning.effort: not one of the documented values")
    if unknown := set(an_array(body.get("include"))) - {_SEALED}:
        wrong.append(f"include: {sorted(unknown)} are not values that may be included")
    format = an_object(an_object(body.get("text")).get("format", {"type": "text"}))
    if format.get("type") == "json_schema":
        wrong += openai_format_faults("text.format", format)
    elif format.get("type") not in ("text", "json_object"):
        wrong.append("text.format.type: not one of the documented values")
    return [*wrong, *_tool_faults(body), *_input_faults(body)]


def _tool_faults(body: dict[str, Json]) -> list[str]:
    wrong: list[str] = []
    names: set[str] = set()
    for place, tool in ((f"tools[{n}]", an_object(t)) for n, t in enumerate(an_array(body.get("tools")))):
        name = tool.get("name")
        if tool.get("type") != "function":
            wrong.append(f"{place}.type: must be 'function'")
        if not is_name(name) or name in names:
            wrong.append(f"{place}.name: must match {NAME.pattern} and be there once")
        else:
            names.add(name)
        if an_object(tool.get("parameters")).get("type") != "object":
            wrong.append(f"{place}.parameters: must be a JSON Schema of type object")
        if not isinstance(tool.get("strict"), bool):
            wrong.append(f"{place}.strict: must be a boolean")
        wrong += unknown_fields(place, tool, _TOOL_FIELDS)
    return wrong


def _input_faults(body: dict[str, Json]) -> list[str]:
    if is_filled(body.get("input")):
        return []
    items = [an_object(item) for item in an_array(body.get("input"))]
    if not items:
        return ["input: must be a non-empty string or array of items"]
    stored = body.get("store", True) is True
    wrong: list[str] = []
    open_calls: list[str] = []
    used: set[str] = set()
    reasoned = False
    for n, item in enumerate(items):
        place = f"input[{n}]"
        kind = a_text(item.get("type")) or "message"
        wrong += item_faults(place, kind, item, stored=stored)
        of_model = kind in ("reasoning", "function_call") or item.get("role") == "assistant"
        if reasoned and not of_model:
            wrong.append(f"{place}: the reasoning before it has lost the item that must follow it")
        reasoned = kind == "reasoning"
        if kind == "function_call":
            call_id = a_text(item.get("call_id"))
            if call_id in used:
                wrong.append(f"{place}.call_id: {call_id!r} was used before")
            used.add(call_id)
            open_calls.append(call_id)
        elif kind == "function_call_output":
            if open_calls[:1] != [item.get("call_id")]:
                wrong.append(f"{place}: answers {item.get('call_id')!r} where {open_calls} are open")
            open_calls = open_calls[1:]
        elif open_calls and not of_model:
            wrong.append(f"{place}: the calls {open_calls} have no output before it")
            open_calls = []
    if open_calls:
        wrong.append(f"the end of input: the calls {open_calls} have no output")
    if reasoned:
        wrong.append("the end of input: the reasoning has lost the item that must follow it")
    return wrong
