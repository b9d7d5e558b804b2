"""Conversations on their way to OpenAI's responses: items, reasoning that goes back, and what is included."""

import pytest
from exchange import request

from turnwright.protocol.messages import Assistant, Image, Message, ToolCall, ToolOutput, User
from turnwright.protocol.wire import Json, encode, loads
from turnwright.providers.base import ModelRequest
from turnwright.providers.conversation import Conversations
from turnwright.providers.responses_input import ResponsesConversation, encode_request
from turnwright.testing.responses_check import check_responses_request

SEALED: Json = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"}
SHOWN: Json = {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"}


def encoded(asked: ModelRequest, most: int | None = None) -> Json:
    made = loads(encode_request(asked, Conversations(ResponsesConversation).of(asked), most))
    assert check_responses_request(made) == []
    return made


def items_of(*messages: Message) -> list[Json]:
    return encoded(request(messages))["input"]


def said(role: str, content: Json) -> Json:
    return {"type": "message", "role": role, "content": content}


def called(call_id: str, name: str = "view", arguments: str = "{}") -> Json:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def output(call_id: str, content: Json) -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": content}


def text(words: str) -> Json:
    return {"type": "input_text", "text": words}


def kept(*parts: Json, source: str = "openai/m") -> str:
    return encode({"source": source, "parts": parts}).decode()


def test_a_body_holds_what_was_asked_and_nothing_is_stored() -> None:
    assert encoded(request(stream=True, reasoning_effort="high"), most=4096) == {
        "model": "m",
        "store": False,
        "stream": True,
        "max_output_tokens": 4096,
        "reasoning": {"effort": "high", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "parallel_tool_calls": True,
        "tools": [
            {
                "type": "function",
                "name": "view",
                "description": "Show a file.",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
                "strict": False,
            }
        ],
        "instructions": "You help.",
        "input": [said("user", "hi")],
    }


def test_without_tools_and_system_prompt_neither_is_mentioned() -> None:
    assert encoded(ModelRequest("m", "", [User("hi")], (), "c")) == {
        "model": "m",
        "store": False,
        "input": [said("user", "hi")],
    }


@pytest.mark.parametrize(
    ("model", "reasons"),
    [("gpt-5.3-codex", True), ("o4-mini", True), ("openai/gpt-oss-20b", True), ("gpt-4.1", False),
     ("gpt-4o", False), ("gpt-5-chat-latest", False), ("qwen3", False)],
)  # fmt: skip
def test_reasoning_is_asked_for_where_the_model_has_any(model: str, reasons: bool) -> None:
    """Others refuse the whole request for it."""
    assert ("include" in encoded(ModelRequest(model, "", [User("hi")], (), "c"))) == reasons


def test_calls_and_their_outputs_are_items_with_the_images_of_tools_in_them() -> None:
    calls = (ToolCall("a", "view", '{"path": "x"}'), ToolCall("functions.b:1", "a.b", "half"))
    outputs = (ToolOutput("a", "Viewed.", (Image("image/png", "AAAA"),)), ToolOutput("functions.b:1", "bad"))
    items = items_of(User("go", (Image("image/png", "AAAA", "a.png"),)), Assistant("Look.", calls), *outputs)
    made_up = items[3]["call_id"]
    assert items == [
        said("user", [text("go"), text("a.png"), SHOWN]),
        said("assistant", "Look."),
        called("a", arguments='{"path": "x"}'),
        called(made_up, "a_b", '{"invalid_arguments":"half"}'),
        output("a", [text("Viewed."), SHOWN]),
        output(made_up, "bad"),
    ]


def test_reasoning_goes_back_in_its_place_and_messages_keep_their_phase() -> None:
    data = kept({"own": SEALED}, {"text": 4, "phase": "commentary"}, {"own": SEALED}, {"call": True})
    reply = Assistant("Hm, so", (ToolCall("a", "view", "{}"),), "", data)
    assert items_of(User("go"), reply, ToolOutput("a", "ok"))[1:] == [
        SEALED,
        {**said("assistant", "Hm, "), "phase": "commentary"},
        SEALED,
        called("a"),
        said("assistant", "so"),
        output("a", "ok"),
    ]


@pytest.mark.parametrize("source", ["openai/other", "anthropic/m"])
def test_reasoning_of_another_model_is_left_out(source: str) -> None:
    reply = Assistant("Done.", (), "", kept({"own": SEALED}, source=source))
    assert items_of(User("go"), reply, User("and"))[1] == said("assistant", "Done.")
