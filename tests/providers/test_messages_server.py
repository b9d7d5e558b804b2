"""The messages server for tests refuses what the real interface would refuse, and says why."""

import pytest

from turnwright.protocol.wire import Json
from turnwright.testing.messages_check import check_messages_request

HEADERS = {"anthropic-version": "2023-06-01"}
MARK: Json = {"cache_control": {"type": "ephemeral"}}
THOUGHT: Json = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
TOOL: Json = {"name": "view", "description": "", "input_schema": {"type": "object"}}
ENABLED: Json = {"type": "enabled", "budget_tokens": 1024}


def text(words: str = "x", **more: Json) -> Json:
    return {"type": "text", "text": words, **more}


def user(*content: Json) -> Json:
    return {"role": "user", "content": list(content) or "hi"}


def model(*content: Json) -> Json:
    return {"role": "assistant", "content": list(content)}


def use(call_id: str) -> Json:
    return {"type": "tool_use", "id": call_id, "name": "view", "input": {}}


def result(call_id: str, **more: Json) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "ok", **more}


def wrong(*messages: Json, **fields: Json) -> list[str]:
    body: dict[str, Json] = {"model": "m", "max_tokens": 2048, "messages": [user(), *messages], **fields}
    return check_messages_request(body, HEADERS)


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (model(THOUGHT, text(), use("a"), use("b")), user(result("a"), result("b", **MARK), text())),
        (model(text()), user(text(), {"type": "image", "source": {"type": "url", "url": "http://h/a.png"}})),
        (model({"type": "redacted_thinking", "data": "x"}, text()), user()),
    ],
)
def test_a_proper_request_is_right(messages: tuple[Json, ...]) -> None:
    fields: Json = {
        "tools": [{**TOOL, **MARK}],
        "system": [text(**MARK)],
        "stream": True,
        "thinking": ENABLED,
    }
    assert wrong(*messages, **fields) == []


WRONG_MESSAGES: list[tuple[tuple[Json, ...], str]] = [
    ((model(use("a")), user()), "messages.2: must answer the calls ['a'] and answers []"),
    ((model(use("a"), use("b")), user(result("b"), result("a"))),
     "messages.2: must answer the calls ['a', 'b'] and answers ['b', 'a']"),
    ((model(text()), user(result("a"))), "messages.2: must answer the calls [] and answers ['a']"),
    ((model(use("a")), user(text(), result("a"))), "messages.2: results must come before other content"),
    ((model(use("a")), user(result("a")), model(use("a")), user(result("a"))),
     "messages.3: call id 'a' was used before"),
    ((user(),), "messages.1.role: 'user' where it is the turn of 'assistant'"),
    ((model(text()),), "messages: the conversation must end with a user message"),
    ((model(text(), THOUGHT), user()),
     "messages.1: the last block of an assistant message cannot be thinking"),
    ((model(), user()), "messages.1.content: must be a non-empty string or array of blocks"),
    ((model(text(" ")), user()), "messages.1.content.0.text: must hold more than whitespace"),
    ((model({**THOUGHT, "signature": ""}, text()), user()),
     "messages.1.content.0: must have thinking and its signature"),
    ((model({**THOUGHT, **MARK}, text()), user()),
     "messages.1.content.0.cache_control: not a field of it"),
    ((model({**use("a b")}), user(result("a b"))), "messages.1.content.0.id: must be a name"),
    ((model({**use("a"), "input": "{}"}), user(result("a"))),
     "messages.1.content.0.input: must be an object"),
    ((model(use("a")), user(result("a", content=[]))),
     "messages.2.content.0.content: must be a string or a non-empty array of blocks"),
    ((model(text()), user(THOUGHT)), "messages.2.content.0.type: 'thinking' is not allowed for user"),
    ((model(text()), user({"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml",
      "data": "A"}})), "messages.2.content.0.source: must be a picture in base64, or the URL of one"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "reason"), WRONG_MESSAGES)
def test_a_wrong_message_is_named(messages: tuple[Json, ...], reason: str) -> None:
    assert wrong(*messages) == [reason]


WRONG_FIELDS: list[tuple[dict[str, Json], str]] = [
    ({"model": ""}, "model: must be a non-empty string"),
    ({"max_tokens": 0}, "max_tokens: must be a number of at least 1"),
    ({"stream": "yes"}, "stream: must be a boolean"),
    ({"stream_options": {}}, "stream_options: not a field of a request"),
    ({"system": [text("")]}, "system.0.text: must hold more than whitespace"),
    ({"system": ""}, "system: must not be empty"),
    ({"tools": [TOOL, TOOL]}, "tools.1.name: must match [a-zA-Z0-9_-]{1,64} and be there once"),
    ({"tools": [{"name": "a", "parameters": {}, "input_schema": {"type": "object"}}]},
     "tools.0.parameters: not a field of it"),
    ({"tools": [{"name": "a", "input_schema": {}}]}, "tools.0.input_schema.type: must be 'object'"),
    ({"tools": [{**TOOL, "name": n, **MARK} for n in "abcde"]},
     "cache_control: 5 blocks have it, and 4 may"),
    ({"system": [text(cache_control={"type": "for ever"})]},
     "cache_control: {'type': 'for ever'} is not of type ephemeral"),
    ({"thinking": {"type": "enabled", "budget_tokens": 2048}},
     "thinking.budget_tokens: must be at least 1024 and less than max_tokens"),
    ({"thinking": {"type": "much"}}, "thinking.type: not one of the documented values"),
    ({"output_config": {"effort": "none"}},
     "output_config.effort: 'none' is not one of ('low', 'medium', 'high', 'xhigh', 'max')"),
    ({"messages": []}, "messages: must be a non-empty array"),
    ({"tool_choice": {"type": "auto"}}, "tool_choice: only allowed with tools"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "reason"), WRONG_FIELDS)
def test_a_wrong_field_is_named(fields: dict[str, Json], reason: str) -> None:
    assert wrong(**fields) == [reason]


def test_thinking_is_refused_where_the_last_calls_were_made_without_it() -> None:
    assert wrong(model(use("a")), user(result("a")), thinking=ENABLED) == [
        "messages: with thinking, the last message with calls must start with thinking"
    ]


def test_the_version_of_the_interface_must_be_named() -> None:
    body: dict[str, Json] = {"model": "m", "max_tokens": 1, "messages": [user()]}
    assert check_messages_request(body, {}) == ["anthropic-version: header is required"]
