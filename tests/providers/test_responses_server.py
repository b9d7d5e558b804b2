"""The responses server for tests refuses what the real interface would refuse, and says why."""

import pytest

from turnwright.protocol.wire import Json
from turnwright.testing.responses_check import check_responses_request

USER: Json = {"role": "user", "content": "hi"}
SAID: Json = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
SEALED: Json = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"}
TOOL: Json = {"type": "function", "name": "view", "parameters": {"type": "object"}, "strict": False}


def call(call_id: str, **more: Json) -> Json:
    return {"type": "function_call", "call_id": call_id, "name": "view", "arguments": "{}", **more}


def result(call_id: str, **more: Json) -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": "ok", **more}


def wrong(*items: Json, **fields: Json) -> list[str]:
    return check_responses_request({"model": "m", "store": False, "input": [USER, *items], **fields})


@pytest.mark.parametrize(
    "items",
    [
        (),
        (SEALED, SAID, SEALED, call("a"), call("b"), result("a"), result("b"), USER),
        (call("a"), SAID, result("a")),
        (call("a"), result("a", output=[{"type": "input_text", "text": "x"},
         {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}])),
    ],
)  # fmt: skip
def test_a_proper_request_is_right(items: tuple[Json, ...]) -> None:
    fields: Json = {"tools": [TOOL], "stream": True, "include": ["reasoning.encrypted_content"]}
    assert wrong(*items, **fields, instructions="x", reasoning={"effort": "high"}) == []


def test_input_may_be_plain_text() -> None:
    assert wrong(input="hi") == []


WRONG_ITEMS: list[tuple[tuple[Json, ...], str]] = [
    ((call("a"), USER), "input[2]: the calls ['a'] have no output before it"),
    ((call("a"),), "the end of input: the calls ['a'] have no output"),
    ((call("a"), call("b"), result("b"), result("a")),
     "input[3]: answers 'b' where ['a', 'b'] are open"),
    ((result("a"),), "input[1]: answers 'a' where [] are open"),
    ((call("a"), result("a"), call("a"), result("a")), "input[3].call_id: 'a' was used before"),
    ((SEALED, USER), "input[2]: the reasoning before it has lost the item that must follow it"),
    ((SEALED,), "the end of input: the reasoning has lost the item that must follow it"),
    (({"type": "reasoning", "id": "rs", "summary": []}, SAID),
     "input[1].encrypted_content: must be there where nothing is stored"),
    (({**SEALED, "id": ""}, SAID), "input[1]: reasoning must have its id and its summary"),
    (({**SEALED, "status": None}, SAID), "input[1].status: not a field of it"),
    ((call("a", arguments="["), result("a")),
     "input[1].arguments: must be the text of a JSON object"),
    ((call("a b"), result("a b")), "input[1].call_id: must be a name"),
    (({"role": "tool", "content": "x"},), "input[1].role: 'tool' is not a role"),
    (({"role": "assistant", "content": [{"type": "input_text", "text": "x"}]},),
     "input[1].content[0].type: 'input_text' is not allowed for assistant"),
    (({"role": "user", "content": []},),
     "input[1].content: must be a string or a non-empty array of parts"),
    (({"role": "user", "content": [{"type": "input_image", "image_url": "AAAA"}]},),
     "input[1].content[0].image_url: must be a URL or a data URL in base64"),
    (({"type": "memory"},), "input[1].type: 'memory' is not a type of an item"),
]  # fmt: skip


@pytest.mark.parametrize(("items", "reason"), WRONG_ITEMS)
def test_a_wrong_item_is_named(items: tuple[Json, ...], reason: str) -> None:
    assert reason in wrong(*items)


WRONG_FIELDS: list[tuple[dict[str, Json], str]] = [
    ({"model": ""}, "model: must be a non-empty string"),
    ({"messages": []}, "messages: not a field of a request"),
    ({"store": 1}, "store: must be a boolean"),
    ({"instructions": []}, "instructions: must be a string"),
    ({"max_output_tokens": 4}, "max_output_tokens: must be at least 16"),
    ({"reasoning": {"effort": "huge"}}, "reasoning.effort: not one of the documented values"),
    ({"include": ["all"]}, "include: ['all'] are not values that may be included"),
    ({"tools": [{**TOOL, "type": "tool"}]}, "tools[0].type: must be 'function'"),
    ({"tools": [TOOL, TOOL]}, "tools[1].name: must match [a-zA-Z0-9_-]{1,64} and be there once"),
    ({"tools": [{**TOOL, "parameters": {}}]},
     "tools[0].parameters: must be a JSON Schema of type object"),
    ({"tools": [{**TOOL, "strict": None}]}, "tools[0].strict: must be a boolean"),
    ({"tools": [{**TOOL, "function": {}}]}, "tools[0].function: not a field of it"),
    ({"input": []}, "input: must be a non-empty string or array of items"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "reason"), WRONG_FIELDS)
def test_a_wrong_field_is_named(fields: dict[str, Json], reason: str) -> None:
    assert wrong(**fields) == [reason]
