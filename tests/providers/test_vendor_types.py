"""Our requests, and the answers of our test servers, fit the types of the vendors' own packages."""

from collections.abc import Callable
from typing import Any

import pytest
from anthropic.types import Message as AnthropicMessage
from anthropic.types import RawMessageStreamEvent
from anthropic.types.message_create_params import (
    MessageCreateParamsNonStreaming,
    MessageCreateParamsStreaming,
)
from exchange import request
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)
from pydantic import TypeAdapter
from vendors import assert_fits, events_of

from turnwright.protocol.messages import Assistant, Image, Message, ToolCall, ToolOutput, User
from turnwright.protocol.wire import Json, encode, loads
from turnwright.providers import anthropic_messages, chat_messages, responses_input
from turnwright.providers.chat_messages import ChatConversation
from turnwright.testing.answers import Say, Send
from turnwright.testing.chat_server import render_chat
from turnwright.testing.messages_server import render_messages
from turnwright.testing.responses_server import render_responses

PICTURE = Image("image/png", "AAAA", "shot.png")
ANSWER = Say("Looking.", calls=[("view", {"path": "a"}), ("view", {"path": "b"})], reasoning="Hm.")


def kept(source: str, own: Json) -> str:
    parts = [{"own": own}, {"text": 4, "phase": "commentary"}, {"call": True}, {"call": True}]
    return encode({"source": source, "parts": parts}).decode()


def history(reasoning_data: str) -> list[Message]:
    calls = (ToolCall("a", "view", '{"path": "a.png"}'), ToolCall("b", "view", ""))
    return [
        User("look", (PICTURE,)),
        Assistant("I'll look.", calls, "Think.", reasoning_data),
        ToolOutput("a", "Viewed.", (PICTURE,)),
        ToolOutput("b", "no such file"),
        User("go on"),
    ]


FORM: Json = {"type": "object", "properties": {"lines": {"type": "integer"}}, "required": ["lines"]}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("effort", [None, "high"])
def test_a_request_for_messages_fits_the_vendors_type(stream: bool, effort: str | None) -> None:
    thinking = {"type": "thinking", "thinking": "Think.", "signature": "s"}
    asked = request(history(kept("anthropic/m", thinking)), stream=stream, reasoning_effort=effort)
    conversation = anthropic_messages.MessagesConversation(asked)
    conversation.extend(asked.messages)
    made = loads(anthropic_messages.encode_request(asked, conversation, None))
    assert thinking in made["messages"][1]["content"]
    assert_fits(
        TypeAdapter(MessageCreateParamsStreaming if stream else MessageCreateParamsNonStreaming), made
    )


def test_a_format_of_answers_fits_the_vendors_types() -> None:
    asked = request(answer_schema=FORM)
    messages, items = (
        anthropic_messages.MessagesConversation(asked),
        responses_input.ResponsesConversation(asked),
    )
    chat = ChatConversation(asked)
    for conversation in (messages, items, chat):
        conversation.extend(asked.messages)
    made = loads(anthropic_messages.encode_request(asked, messages, None))
    assert made["output_config"]["format"]["schema"]["required"] == ["lines"]
    assert_fits(TypeAdapter(MessageCreateParamsNonStreaming), made)
    made = loads(responses_input.encode_request(asked, items, None))
    assert made["text"]["format"]["strict"] is True
    assert_fits(TypeAdapter(ResponseCreateParamsNonStreaming), made)
    made = loads(chat_messages.encode_request(asked, chat, format_is_of_answers=True))
    assert made["response_format"]["json_schema"]["strict"] is True
    assert_fits(TypeAdapter(CompletionCreateParamsNonStreaming), made)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("effort", [None, "high"])
def test_a_request_for_a_response_fits_the_vendors_type(stream: bool, effort: str | None) -> None:
    reasoning: Json = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"}
    asked = request(history(kept("openai/m", reasoning)), stream=stream, reasoning_effort=effort)
    conversation = responses_input.ResponsesConversation(asked)
    conversation.extend(asked.messages)
    made = loads(responses_input.encode_request(asked, conversation, 4096))
    assert made["input"][1:3] == [
        reasoning,
        {"type": "message", "role": "assistant", "content": "I'll", "phase": "commentary"},
    ]
    assert_fits(
        TypeAdapter(ResponseCreateParamsStreaming if stream else ResponseCreateParamsNonStreaming), made
    )


@pytest.mark.parametrize("stream", [False, True])
def test_a_request_for_a_chat_completion_fits_the_vendors_type(stream: bool) -> None:
    asked = request(history("{}"), stream=stream, reasoning_effort="high")
    conversation = ChatConversation(asked)
    conversation.extend(asked.messages)
    made = loads(chat_messages.encode_request(asked, conversation))
    assert_fits(
        TypeAdapter(CompletionCreateParamsStreaming if stream else CompletionCreateParamsNonStreaming), made
    )


@pytest.mark.parametrize(
    ("render", "event", "whole"),
    [
        (render_messages, RawMessageStreamEvent, AnthropicMessage),
        (render_responses, ResponseStreamEvent, Response),
        (render_chat, ChatCompletionChunk, ChatCompletion),
    ],
)
def test_the_answers_of_the_test_servers_fit_the_vendors_types(
    render: Callable[[Say, Json, int], Send], event: Any, whole: Any
) -> None:
    asked = {"model": "m", "stream_options": {"include_usage": True}}
    events = TypeAdapter[Any](event)
    for data in events_of(render(ANSWER, {**asked, "stream": True}, 0)):
        if data != {"type": "ping"}:
            events.validate_python(data)
    (answer,) = render(ANSWER, asked, 0).pieces
    TypeAdapter[Any](whole).validate_python(loads(answer))
