"""The chat server for tests refuses what the real interface would refuse, and says why."""

import copy

import anyio
import pytest
from exchange import Heard, request

from turnwright.errors import ProviderError
from turnwright.protocol.messages import ToolOutput, User
from turnwright.protocol.wire import Json
from turnwright.providers.openai_chat import OpenAIChat
from turnwright.testing.chat_answers import say
from turnwright.testing.chat_check import check_chat_request
from turnwright.testing.chat_server import ChatServer


def made(*ids: str) -> Json:
    return [{"id": i, "type": "function", "function": {"name": "view", "arguments": "{}"}} for i in ids]


def asked(*ids: str) -> Json:
    return {"role": "assistant", "content": None, "tool_calls": made(*ids)}


def result(call_id: str) -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"}


USER: Json = {"role": "user", "content": "hi"}
NOTHING: list[Json] = []
TOOL: Json = {"type": "function", "function": {"name": "view", "parameters": {"type": "object"}}}


def wrong(*messages: Json, **fields: Json) -> list[str]:
    return check_chat_request({"model": "m", "messages": [USER, *messages], **fields})


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (asked("a", "b"), result("a"), result("b"), {"role": "assistant", "content": "done"}, USER),
        ({"role": "assistant", "content": "", "tool_calls": made("a")}, result("a")),
        ({"role": "user", "content": [{"type": "text", "text": "x"},
          {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},),
        ({"role": "developer", "content": "more"},),
    ],
)  # fmt: skip
def test_a_proper_request_is_right(messages: tuple[Json, ...]) -> None:
    assert wrong(*messages, tools=[TOOL], stream=True, stream_options={"include_usage": True}) == []


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ((asked("a"),), "the end of messages: call 'a' has no tool message before it"),
        ((asked("a"), USER, result("a")), "messages[2]: call 'a' has no tool message before it"),
        ((asked("a", "b"), result("a"), USER), "messages[3]: call 'b' has no tool message before it"),
        ((asked("a", "b"), result("b"), result("a")), "messages[2]: 'b' is answered out of order"),
        ((result("a"),),
         "messages[1]: answers 'a', which is no open call of the assistant message before it"),
        ((asked("a"), result("a"), result("a")),
         "messages[3]: answers 'a', which is no open call of the assistant message before it"),
        ((asked("a", "a"), result("a"), result("a")), "messages[1].tool_calls[1].id: 'a' is there twice"),
        ((asked("") , result("")), "messages[1].tool_calls[0].id: must be a non-empty string"),
        ((asked(),), "messages[1].tool_calls: must be a non-empty array, or left out"),
        (({"role": "assistant", "content": None},),
         "messages[1].content: must be a string or a non-empty array of parts"),
        (({"role": "model", "content": "x"},), "messages[1].role: 'model' is not a role"),
        (({"role": "user", "content": "x", "images": NOTHING},), "messages[1].images: not a field of user"),
        (({"role": "user", "content": NOTHING},),
         "messages[1].content: must be a string or a non-empty array of parts"),
        ((asked("a"), {"role": "tool", "tool_call_id": "a", "content": [{"type": "image_url"}]}),
         "messages[2].content[0].type: 'image_url' is not allowed for tool"),
        (({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "/x.png"}}]},),
         "messages[1].content[0].image_url.url: must be a URL or a data URL in base64"),
    ],
)  # fmt: skip
def test_a_history_that_the_interface_refuses_is_wrong(messages: tuple[Json, ...], reason: str) -> None:
    assert reason in wrong(*messages)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("name", "a.b", "must match [a-zA-Z0-9_-]{1,64}"),
        ("name", "x" * 65, "must match [a-zA-Z0-9_-]{1,64}"),
        ("arguments", {"a": 1}, "must be the text of a JSON object"),
        ("arguments", '{"a": ', "must be the text of a JSON object"),
    ],
)
def test_a_call_that_the_interface_refuses_is_wrong(field: str, value: Json, reason: str) -> None:
    call = copy.deepcopy(asked("a"))
    call["tool_calls"][0]["function"][field] = value
    assert wrong(call, result("a")) == [f"messages[1].tool_calls[0].function.{field}: {reason}"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"model": ""}, "model: must be a non-empty string"),
        ({"messages": []}, "messages: must be a non-empty array"),
        ({"tools": []}, "tools: must be a non-empty array, or left out"),
        ({"tools": [TOOL, TOOL]}, "tools[1].function.name: 'view' is there twice"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]},
         "tools[0].function.name: must match [a-zA-Z0-9_-]{1,64}"),
        ({"tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": "array"}}}]},
         "tools[0].function.parameters: must be a JSON Schema of type object"),
        ({"tool_choice": "auto"}, "tool_choice: only allowed with tools"),
        ({"stream_options": {"include_usage": True}}, "stream_options: only allowed with stream"),
        ({"reasoning_effort": "very"}, "reasoning_effort: not one of the documented values"),
        ({"conversation": "c"}, "conversation: not a field of a request"),
    ],
)  # fmt: skip
def test_a_field_that_the_interface_refuses_is_wrong(fields: dict[str, Json], reason: str) -> None:
    assert wrong(**fields) == [reason]


@pytest.mark.anyio
async def test_a_request_that_breaks_a_rule_is_refused_counted_and_remembered() -> None:
    async with ChatServer([say("not this time")]) as server:
        provider = OpenAIChat(server.base_url)
        with pytest.raises(ProviderError, match="answers 'a', which is no open call") as raised:
            await provider.respond(request([User("hi"), ToolOutput("a", "x")]), Heard())
        assert (await provider.respond(request(), Heard())).content == "not this time"
        await provider.aclose()
    assert raised.value.status == 400
    assert len(server.requests) == 2
    assert server.violations == [
        "messages[2]: answers 'a', which is no open call of the assistant message before it"
    ]


@pytest.mark.anyio
async def test_a_request_beyond_the_script_is_refused_and_remembered() -> None:
    async with ChatServer() as server:
        provider = OpenAIChat(server.base_url)
        with pytest.raises(ProviderError, match="no answer to request 0"):
            await provider.respond(request(), Heard())
        await provider.aclose()
    assert server.violations == ["the script has no answer to request 0"]


@pytest.mark.anyio
async def test_what_is_not_served_is_not_found_and_what_is_not_json_refused() -> None:
    async with ChatServer() as server:
        port = int(server.base_url.split(":")[2].partition("/")[0])
        for head, body, status in (
            ("GET /elsewhere", b"", b"HTTP/1.1 404 "),
            ("POST /chat/completions", b"{", b"HTTP/1.1 400 "),
        ):
            with anyio.fail_after(5):
                async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                    await stream.send(
                        f"{head} HTTP/1.1\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
                    )
                    assert (await stream.receive()).startswith(status)
    assert len(server.violations) == 1
