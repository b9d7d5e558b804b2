"""Replies of Anthropic's messages that are peculiar to them: blocks, stop reasons, usage, errors, headers."""

import pytest
from exchange import KEY, Heard, request, told

from turnwright.errors import ProviderError
from turnwright.protocol.messages import Assistant, Reply, ToolCall, ToolOutput, Usage, User
from turnwright.protocol.wire import Json
from turnwright.providers.anthropic import Anthropic
from turnwright.testing.answers import Say, Send, ServedAnswer, say, send_json
from turnwright.testing.messages_answers import event, refuse, send_events
from turnwright.testing.messages_server import MessagesServer

pytestmark = pytest.mark.anyio

START: Json = {"type": "message_start", "message": {"id": "msg", "model": "m", "usage": {"input_tokens": 3}}}
STOP: Json = {"type": "message_stop"}


def opened(index: int, **block: Json) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def grown(index: int, kind: str, **delta: Json) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}


def ended(reason: str, **more: Json) -> Json:
    return {"type": "message_delta", "delta": {"stop_reason": reason, **more}, "usage": {"output_tokens": 2}}


async def ask(answer: ServedAnswer, *, stream: bool = True) -> Reply:
    async with MessagesServer([answer]) as server:
        return await answered(server, stream=stream)


async def fail(answer: ServedAnswer) -> ProviderError:
    async with MessagesServer([answer]) as server:
        with pytest.raises(ProviderError) as raised:
            await answered(server)
    return raised.value


async def answered(server: MessagesServer, *, stream: bool = True) -> Reply:
    provider = Anthropic(server.base_url, api_key=KEY)
    try:
        return await provider.respond(request(stream=stream), Heard())
    finally:
        await provider.aclose()


async def test_the_key_the_version_and_own_headers_are_sent() -> None:
    async with MessagesServer([say("hi")]) as server:
        own = {"anthropic-beta": "one", "Anthropic-Version": "2099-01-01"}
        provider = Anthropic(f"{server.base_url}/v1/", api_key=f" {KEY} ", headers=own)
        await provider.respond(request(headers={"x-more": "1"}), Heard())
        await provider.aclose()
    sent = server.headers[0]
    names = ("x-api-key", "anthropic-version", "anthropic-beta", "x-more", "authorization")
    assert [sent.get(name) for name in names] == [KEY, "2099-01-01", "one", "1", None]


async def test_a_bearer_token_goes_before_the_key() -> None:
    async with MessagesServer([say("hi")], api_key="token-of-mine") as server:
        provider = Anthropic(server.base_url, api_key=KEY, bearer_token="token-of-mine")
        await provider.respond(request(), Heard())
        await provider.aclose()
    assert "x-api-key" not in server.headers[0]


async def test_thinking_is_kept_with_its_signature_and_redacted_thinking_too() -> None:
    redacted = {"type": "redacted_thinking", "data": "sealed"}
    thought = {"type": "thinking", "thinking": "Hm. So.", "signature": "signed"}
    answer = send_events(
        START,
        opened(0, type="thinking", thinking="", signature=""),
        grown(0, "thinking_delta", thinking="Hm. "),
        grown(0, "thinking_delta", thinking="So."),
        grown(0, "signature_delta", signature="signed"),
        opened(1, **redacted),
        opened(2, type="text", text=""),
        grown(2, "text_delta", text="Now"),
        opened(3, type="tool_use", id="t", name="view", input={}),
        grown(3, "input_json_delta", partial_json='{"path":'),
        grown(3, "input_json_delta", partial_json=' "a"}'),
        ended("tool_use"),
        STOP,
    )
    async with MessagesServer([answer, say("done")]) as server:
        provider = Anthropic(server.base_url)
        reply = await provider.respond(request(stream=True), Heard())
        made = Assistant(reply.content, reply.tool_calls, reply.reasoning, reply.reasoning_data)
        await provider.respond(request([User("hi"), made, ToolOutput("t", "ok")]), Heard())
        await provider.aclose()
    assert server.violations == []
    assert (reply.content, reply.reasoning, reply.tool_calls) == (
        "Now",
        "Hm. So.",
        (ToolCall("t", "view", '{"path": "a"}'),),
    )
    assert server.requests[1]["messages"][1]["content"][:3] == [
        thought,
        redacted,
        {"type": "text", "text": "Now"},
    ]


async def test_thinking_without_its_signature_is_heard_and_does_not_go_back() -> None:
    answer = send_events(
        START,
        opened(0, type="thinking", thinking="", signature=""),
        grown(0, "thinking_delta", thinking="Hm."),
        opened(1, type="redacted_thinking"),
        opened(2, type="text", text="Now"),
        ended("end_turn"),
        STOP,
    )
    async with MessagesServer([answer, say("done")]) as server:
        provider = Anthropic(server.base_url)
        reply = await provider.respond(request(stream=True), Heard())
        made = Assistant(reply.content, reply.tool_calls, reply.reasoning, reply.reasoning_data)
        await provider.respond(request([User("hi"), made, User("go on")]), Heard())
        await provider.aclose()
    assert server.violations == []
    assert (reply.reasoning, reply.reasoning_data) == ("Hm.", None)


async def test_usage_counts_what_was_read_from_and_written_to_the_cache_as_input() -> None:
    usage = {
        "input_tokens": 5,
        "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 95,
        "output_tokens": 20,
        "output_tokens_details": {"thinking_tokens": 8},
    }
    for stream in (False, True):
        reply = await ask(Say("x", usage=usage), stream=stream)
        assert reply.usage == Usage(
            1000, 20, cache_read_tokens=900, cache_write_tokens=95, reasoning_tokens=8
        )


@pytest.mark.parametrize(
    ("given", "finish"),
    [("end_turn", "stop"), ("stop_sequence", "stop"), ("max_tokens", "length"), ("refusal", "content_filter"),
     ("model_context_window_exceeded", "length"), ("pause_turn", "unknown")],
)  # fmt: skip
async def test_the_stop_reason_is_passed_on(given: str, finish: str) -> None:
    assert (await ask(Say("x", finish_reason=given))).finish_reason == finish


async def test_half_a_call_is_left_out_when_the_output_limit_cut_it() -> None:
    """B33, the variant with an output limit: distinguishable, and the half call can't be run."""
    reply = await ask(
        Say("Hm.", calls=[("view", "{}"), ("edit", '{"path":"a","n')], finish_reason="max_tokens")
    )
    assert (reply.content, reply.finish_reason) == ("Hm.", "length")
    assert [call.name for call in reply.tool_calls] == ["view"]


async def test_a_refusal_says_why() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "Not that."}
    reply = await ask(send_events(START, ended("refusal", stop_details=details), STOP))
    assert (reply.content, reply.finish_reason) == ("Not that.", "content_filter")


async def test_a_call_whose_input_came_with_its_start_is_whole() -> None:
    answer = send_events(
        START, opened(0, type="tool_use", id="t", name="view", input={"path": "a"}), ended("tool_use")
    )
    assert (await ask(answer)).tool_calls == (ToolCall("t", "view", '{"path":"a"}'),)


async def test_an_overloaded_server_is_worth_another_try_before_and_within_the_stream() -> None:
    before = await fail(refuse(529, "Overloaded", "overloaded_error"))
    within = await fail(
        Send(
            [
                event(START),
                event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            ]
        )
    )
    assert [(error.kind, error.status, error.retryable) for error in (before, within)] == [
        ("query", 529, True),
        ("query", None, True),
    ]
    assert str(within).endswith("answered with an error: Overloaded")


async def test_a_conversation_that_is_too_long_is_told_apart() -> None:
    for message in (
        "prompt is too long: 250000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000",
    ):
        assert (await fail(refuse(400, message, "invalid_request_error"))).kind == "context_limit"


async def test_an_answer_that_is_no_message_is_one_clear_error() -> None:
    error = await fail(send_json({"hello": "world"}))
    assert told(error)["kind"] == "query"
    assert "answered without a reply" in str(error)
