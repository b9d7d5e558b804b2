"""Conversations on their way to Anthropic's messages: blocks, cache marks, and how much to think."""

import pytest
from exchange import request

from turnwright.protocol.messages import Assistant, Image, Message, ToolCall, ToolOutput, User
from turnwright.protocol.wire import Json, encode, loads
from turnwright.providers.anthropic_messages import MessagesConversation, encode_request
from turnwright.providers.anthropic_thinking import thinking
from turnwright.providers.base import ModelRequest
from turnwright.providers.conversation import Conversations
from turnwright.testing.messages_check import check_messages_request

MARK: Json = {"cache_control": {"type": "ephemeral"}}
VERSION = {"anthropic-version": "2023-06-01"}
PICTURE = Image("image/png", "AAAA")
SHOWN: Json = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
THOUGHT: Json = {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def encoded(asked: ModelRequest, conversations: Conversations[MessagesConversation] | None = None) -> Json:
    known = conversations or Conversations(MessagesConversation)
    made = loads(encode_request(asked, known.of(asked), None))
    assert check_messages_request(made, VERSION) == []
    return made


def messages_of(*messages: Message, vision: bool = True) -> list[Json]:
    """The messages as they are sent, without the mark on the last block."""
    sent = encoded(request(messages, vision=vision))["messages"]
    assert sent[-1]["content"][-1].pop("cache_control") == MARK["cache_control"]
    return sent


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def result(call_id: str, content: Json) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def kept(*parts: Json, source: str = "anthropic/m") -> str:
    return encode({"source": source, "parts": parts}).decode()


def test_a_body_holds_what_was_asked_with_marks_on_tools_system_and_the_last_block() -> None:
    assert encoded(request(stream=True)) == {
        "model": "m",
        "max_tokens": 8192,
        "stream": True,
        "tools": [
            {
                "name": "view",
                "description": "Show a file.",
                "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
                **MARK,
            }
        ],
        "system": [{**text("You help."), **MARK}],
        "messages": [{"role": "user", "content": [{**text("hi"), **MARK}]}],
    }


def test_without_tools_and_system_prompt_neither_is_mentioned() -> None:
    assert encoded(ModelRequest("m", "", [User("hi")], (), "c")).keys() == {"model", "max_tokens", "messages"}


def test_all_results_of_one_reply_are_in_one_message_with_their_images_and_what_the_user_says_next() -> None:
    calls = (ToolCall("a", "view", '{"path": "x"}'), ToolCall("b", "shot", ""))
    outputs = (ToolOutput("a", "text"), ToolOutput("b", "Shot.", (PICTURE,)))
    assert messages_of(User("go"), Assistant("Look.", calls), *outputs, User("now"), User("and")) == [
        {"role": "user", "content": [text("go")]},
        {
            "role": "assistant",
            "content": [
                text("Look."),
                {"type": "tool_use", "id": "a", "name": "view", "input": {"path": "x"}},
                {"type": "tool_use", "id": "b", "name": "shot", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [result("a", "text"), result("b", [text("Shot."), SHOWN]), text("now"), text("and")],
        },
    ]


def test_pictures_follow_their_names_and_without_vision_there_are_none() -> None:
    named = User("look", (Image("image/png", "AAAA", "a.png"),))
    assert messages_of(named) == [{"role": "user", "content": [text("look"), text("a.png"), SHOWN]}]
    assert messages_of(named, vision=False) == [{"role": "user", "content": [text("look")]}]


def test_what_says_nothing_is_sent_in_a_form_that_is_taken() -> None:
    call = ToolCall("a", "view", "{}")
    sent = messages_of(User(" "), Assistant("\n", (call,)), ToolOutput("a", ""))
    assert [message["content"] for message in sent] == [
        [text("(no text)")],
        [{"type": "tool_use", "id": "a", "name": "view", "input": {}}],
        [{"type": "tool_result", "tool_use_id": "a"}],
    ]


def test_ids_names_and_arguments_of_other_servers_are_sent_in_a_form_that_is_taken() -> None:
    """B28: half a JSON text, which many models write, must not make the history refused for ever."""
    call = ToolCall("functions.view:0", "a.b", '{"path": "x')
    _, asked, answered = messages_of(
        User("go"), Assistant("", (call,)), ToolOutput("functions.view:0", "bad")
    )
    (sent,) = asked["content"]
    assert (sent["name"], sent["input"]) == ("a_b", {"invalid_arguments": '{"path": "x'})
    assert answered["content"] == [result(sent["id"], "bad")]


def test_reasoning_goes_back_unchanged_and_in_its_place() -> None:
    """Kept with its call: the API refuses a last reply whose thinking was moved, changed or left out."""
    data = kept({"text": 3}, {"own": THOUGHT}, {"text": 5}, {"call": True})
    reply = Assistant("One two.", (ToolCall("a", "view", "{}"),), "Hm.", data)
    _, sent, _ = messages_of(User("go"), reply, ToolOutput("a", "ok"))
    assert sent["content"] == [
        text("One"),
        THOUGHT,
        text(" two."),
        {"type": "tool_use", "id": "a", "name": "view", "input": {}},
    ]


@pytest.mark.parametrize(
    "data", [kept({"own": THOUGHT}, source="anthropic/other"), kept({"own": THOUGHT}, source="openai/m"), "?"]
)
def test_reasoning_of_another_model_or_runtime_is_left_out(data: str) -> None:
    reply = Assistant("Done.", (), "Hm.", data)
    assert messages_of(User("go"), reply, User("and"))[1]["content"] == [text("Done.")]


def test_thinking_without_an_end_is_left_out() -> None:
    reply = Assistant("Done.", (), "Hm.", kept({"text": 5}, {"own": THOUGHT}))
    assert messages_of(User("go"), reply, User("and"))[1]["content"] == [text("Done.")]


def test_after_more_blocks_than_the_server_looks_back_the_last_mark_is_repeated() -> None:
    """The cache of the turn before would not be found: the server looks at 20 blocks before a mark."""
    conversations = Conversations(MessagesConversation)
    history: list[Message] = [User("go")]
    encoded(request(history), conversations)
    calls = tuple(ToolCall(f"c{n}", "view", "{}") for n in range(12))
    history += [Assistant("", calls), *(ToolOutput(call.id, "ok") for call in calls)]
    sent = encoded(request(history), conversations)["messages"]
    marked = [block for message in sent for block in message["content"] if "cache_control" in block]
    assert marked == [{**text("go"), **MARK}, {**result("c11", "ok"), **MARK}]


@pytest.mark.parametrize(
    "model",
    [
        "claude-3-7-sonnet-20250219",
        "claude-sonnet-4-20250514",
        "claude-opus-4-1",
        "claude-haiku-4-5-20251001",
    ],
)
def test_models_that_know_budgets_get_one(model: str) -> None:
    assert thinking(model, "medium", None, possible=True) == {
        "max_tokens": 16384,
        "thinking": {"type": "enabled", "budget_tokens": 8192},
    }


@pytest.mark.parametrize("model", ["claude-opus-4-6", "claude-sonnet-4-10", "claude-sonnet-5", "m"])
def test_other_models_get_an_effort(model: str) -> None:
    assert thinking(model, "minimal", 4096, possible=False) == {
        "max_tokens": 4096,
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "low"},
    }


@pytest.mark.parametrize(
    ("effort", "most", "possible"), [(None, 4096, True), ("none", 4096, True), ("high", 4096, False),
                                     ("high", 1500, True)]
)  # fmt: skip
def test_where_thinking_is_not_wanted_or_not_possible_it_is_not_asked_for(
    effort: str | None, most: int, possible: bool
) -> None:
    assert thinking("claude-opus-4-1", effort, most, possible=possible) == {"max_tokens": most}


def test_a_budget_leaves_half_of_a_set_output_for_the_answer() -> None:
    assert thinking("claude-opus-4-1", "high", 8000, possible=True) == {
        "max_tokens": 8000,
        "thinking": {"type": "enabled", "budget_tokens": 4000},
    }


@pytest.mark.parametrize("data", [None, kept({"own": THOUGHT}, source="anthropic/claude-opus-4-1")])
def test_calls_that_were_made_without_thinking_are_answered_without_it(data: str | None) -> None:
    """A model switched to in the middle of a turn refuses to think there."""
    reply = Assistant("", (ToolCall("a", "view", "{}"),), "", data)
    asked = ModelRequest(
        "claude-opus-4-1", "", [User("go"), reply, ToolOutput("a", "ok")], (), "c", reasoning_effort="high"
    )
    assert ("thinking" in encoded(asked)) == (data is not None)
