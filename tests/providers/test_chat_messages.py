"""Conversations on their way to a server: what is encoded, and that none of it is encoded twice."""

import pytest
from exchange import request

from turnwright.protocol.messages import Assistant, Image, Message, ToolCall, ToolOutput, User
from turnwright.protocol.wire import Json, loads
from turnwright.providers.base import ModelRequest
from turnwright.providers.chat_messages import ChatConversation, encode_request
from turnwright.providers.conversation import Conversations
from turnwright.testing.chat_check import check_chat_request


def encoded(conversations: Conversations[ChatConversation], asked: ModelRequest) -> bytes:
    body = encode_request(asked, conversations.of(asked))
    assert check_chat_request(loads(body)) == []
    return body


def messages_of(*messages: Message) -> list[Json]:
    return loads(encoded(Conversations(ChatConversation), request(messages)))["messages"][1:]


def tool_turn(n: int) -> list[Message]:
    call_id = f"call_{n}"
    call = ToolCall(call_id, "view", f'{{"path": "{n}.txt"}}')
    return [Assistant(f"step {n} – é", (call,)), ToolOutput(call_id, f"contents of {n}")]


@pytest.mark.parametrize("stream", [False, True])
def test_each_of_five_turns_begins_with_the_very_bytes_of_the_turn_before(stream: bool) -> None:
    conversations = Conversations(ChatConversation)
    messages: list[Message] = [User("go")]
    before = encoded(conversations, request(messages, stream=stream))
    for n in range(5):
        messages += tool_turn(n)
        body = encoded(conversations, request(messages, stream=stream))
        assert body.startswith(before.removesuffix(b"]}") + b",")
        assert body == encoded(Conversations(ChatConversation), request(messages, stream=stream))
        before = body


def test_a_body_holds_what_was_asked_and_no_more() -> None:
    asked = request(stream=True, reasoning_effort="high")
    assert loads(encoded(Conversations(ChatConversation), asked)) == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "reasoning_effort": "high",
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "view",
                    "description": "Show a file.",
                    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
                },
            }
        ],
        "messages": [{"role": "system", "content": "You help."}, {"role": "user", "content": "hi"}],
    }


def test_without_tools_and_system_prompt_neither_is_mentioned() -> None:
    asked = ModelRequest("m", "", [User("hi")], (), "c")
    assert loads(encoded(Conversations(ChatConversation), asked)) == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_a_reply_with_calls_and_no_text_has_null_for_content() -> None:
    asked, answered = messages_of(Assistant("", (ToolCall("a", "view", "{}"),)), ToolOutput("a", "ok"))
    assert asked["content"] is None
    assert answered == {"role": "tool", "tool_call_id": "a", "content": "ok"}
    assert messages_of(Assistant("")) == [{"role": "assistant", "content": ""}]


def test_a_users_image_is_a_data_url_beside_the_text() -> None:
    assert messages_of(User("look", (Image("image/png", "AAAA"),))) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ],
        }
    ]


def test_the_images_of_tools_follow_all_results_of_their_reply() -> None:
    calls = (ToolCall("a", "view", '{"path": "/x/a.png"}'), ToolCall("b", "shot", ""))
    outputs = (
        ToolOutput("a", "Viewed.", (Image("image/png", "AAAA"),)),
        ToolOutput("b", "Shot.", (Image("image/jpeg", "BBBB"),)),
    )
    sent = messages_of(Assistant("", calls), *outputs, User("go on"))
    assert [message["role"] for message in sent] == ["assistant", "tool", "tool", "user", "user"]
    assert sent[3]["content"] == [
        {"type": "text", "text": "Image file at path /x/a.png"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": "Image from call b"},
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,BBBB"}},
    ]


def test_without_vision_all_pictures_are_left_out_and_with_it_they_are_back() -> None:
    picture = (Image("image/png", "AAAA"),)
    call = ToolCall("a", "view", '{"path": "a.png"}')
    history = [User("look", picture), Assistant("", (call,)), ToolOutput("a", "Viewed.", picture)]
    conversations = Conversations(ChatConversation)
    for vision, pictures in ((True, 2), (False, 0), (True, 2)):
        body = encoded(conversations, request(history, vision=vision))
        assert body.count(b"data:image/png") == pictures
        assert body == encoded(Conversations(ChatConversation), request(history, vision=vision))


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('{"path": 1}', '{"path": 1}'),
        ("", "{}"),
        (" \n", "{}"),
        ('{"path": "x', '{"invalid_arguments":"{\\"path\\": \\"x"}'),
        ("[1]", '{"invalid_arguments":"[1]"}'),
    ],
)
def test_arguments_that_no_template_can_take_are_wrapped(written: str, sent: str) -> None:
    """B28: a history with half a JSON text in it is refused by many servers, for ever."""
    asked, _ = messages_of(Assistant("", (ToolCall("a", "view", written),)), ToolOutput("a", "bad"))
    assert asked["tool_calls"][0]["function"]["arguments"] == sent


@pytest.mark.parametrize(("made_up", "sent"), [("a.b c", "a_b_c"), ("", "unnamed"), ("x" * 80, "x" * 64)])
def test_a_made_up_tool_name_is_sent_in_a_form_that_servers_accept(made_up: str, sent: str) -> None:
    asked, _ = messages_of(Assistant("", (ToolCall("a", made_up, "{}"),)), ToolOutput("a", "no such tool"))
    assert asked["tool_calls"][0]["function"]["name"] == sent


def test_half_of_a_surrogate_pair_does_not_break_the_request() -> None:
    assert messages_of(User("a\ud800b")) == [{"role": "user", "content": "a\ufffdb"}]


def test_a_rewritten_conversation_is_encoded_anew() -> None:
    conversations = Conversations(ChatConversation)
    encoded(conversations, request([User("one"), User("two")]))
    rewritten = [
        request([User("summary")], epoch=1),
        request([User("summary"), User("three")], epoch=1),
        request([User("other"), User("three"), User("four")], epoch=2),
        request([User("other"), User("changed against the rules")], epoch=2),
    ]
    for asked in rewritten:
        assert encoded(conversations, asked) == encoded(Conversations(ChatConversation), asked)


def test_conversations_do_not_mix() -> None:
    conversations = Conversations(ChatConversation)
    for asked in [request([User("a")], conversation="a"), request([User("b")], conversation="b")] * 2:
        assert encoded(conversations, asked) == encoded(Conversations(ChatConversation), asked)


@pytest.mark.parametrize(
    "bounded", [Conversations(ChatConversation, most=2), Conversations(ChatConversation, most_bytes=1)]
)
def test_only_the_latest_conversations_are_kept(bounded: Conversations[ChatConversation]) -> None:
    first = bounded.of(request(conversation="a"))
    bounded.of(request(conversation="b"))
    last = bounded.of(request(conversation="c"))
    assert bounded.of(request(conversation="c")) is last
    assert bounded.of(request(conversation="a")) is not first
