"""Replies of OpenAI's responses that are peculiar to them: items, summaries, endings, errors in streams."""

import pytest
from exchange import KEY, Heard, request

from turnwright.errors import ProviderError
from turnwright.protocol.messages import Assistant, Reply, ToolCall, ToolOutput, Usage, User
from turnwright.protocol.wire import Json
from turnwright.providers.responses import OpenAIResponses
from turnwright.testing.answers import Say, Send, ServedAnswer, say, send_json
from turnwright.testing.responses_answers import event, send_events
from turnwright.testing.responses_server import ResponsesServer

pytestmark = pytest.mark.anyio

TOKENS: Json = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 3},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 8},
}


def message(words: str, **more: Json) -> Json:
    return {"type": "message", "id": "msg", "content": [{"type": "output_text", "text": words}], **more}


def done(index: int, item: Json) -> Json:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def completed(*output: Json, status: str = "completed", **more: Json) -> Json:
    response = {"object": "response", "id": "resp", "model": "m", "status": status, "output": output, **more}
    return {"type": f"response.{status}", "response": response}


async def ask(answer: ServedAnswer, heard: Heard | None = None, *, stream: bool = True) -> Reply:
    async with ResponsesServer([answer]) as server:
        return await answered(server, heard or Heard(), stream=stream)


async def fail(answer: ServedAnswer) -> ProviderError:
    async with ResponsesServer([answer]) as server:
        with pytest.raises(ProviderError) as raised:
            await answered(server, Heard())
    return raised.value


async def answered(server: ResponsesServer, heard: Heard, *, stream: bool = True) -> Reply:
    provider = OpenAIResponses(server.base_url, api_key=KEY)
    try:
        return await provider.respond(request(stream=stream), heard)
    finally:
        await provider.aclose()


async def test_usage_counts_the_cache_and_the_reasoning() -> None:
    for stream in (False, True):
        reply = await ask(Say("x", usage=TOKENS), stream=stream)
        assert reply.usage == Usage(100, 20, cache_read_tokens=64, cache_write_tokens=3, reasoning_tokens=8)


@pytest.mark.parametrize("lacking", ["id", "summary"])
async def test_reasoning_that_lacks_what_the_server_demands_does_not_go_back(lacking: str) -> None:
    sealed: Json = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "sealed"}
    answer = send_events(done(0, {**sealed, lacking: None}), done(1, message("Hi.")), completed())
    async with ResponsesServer([answer, say("done")]) as server:
        provider = OpenAIResponses(server.base_url)
        reply = await provider.respond(request(stream=True), Heard())
        made = Assistant(reply.content, reply.tool_calls, reply.reasoning, reply.reasoning_data)
        await provider.respond(request([User("hi"), made, User("go on")]), Heard())
        await provider.aclose()
    assert server.violations == []
    assert (reply.content, reply.reasoning_data) == ("Hi.", None)


async def test_encrypted_reasoning_and_phases_go_back_with_the_reply() -> None:
    sealed = {
        "type": "reasoning",
        "id": "rs",
        "summary": [{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}],
        "encrypted_content": "sealed",
        "status": None,
    }
    call = {"type": "function_call", "id": "fc", "call_id": "c", "name": "view", "arguments": "{}"}
    answer = send_events(
        done(0, sealed), done(1, message("Looking.", phase="commentary")), done(2, call), completed()
    )
    async with ResponsesServer([answer, say("done")]) as server:
        provider = OpenAIResponses(server.base_url)
        heard = Heard()
        reply = await provider.respond(request(stream=True), heard)
        made = Assistant(reply.content, reply.tool_calls, reply.reasoning, reply.reasoning_data)
        await provider.respond(request([User("hi"), made, ToolOutput("c", "ok")]), Heard())
        await provider.aclose()
    assert server.violations == []
    assert (reply.content, reply.reasoning, reply.tool_calls) == (
        "Looking.",
        "One.\n\nTwo.",
        (ToolCall("c", "view", "{}"),),
    )
    assert (heard.texts, heard.reasonings) == (["Looking."], ["One.\n\nTwo."])
    del sealed["status"]
    assert server.requests[1]["input"][1:3] == [
        sealed,
        {"type": "message", "role": "assistant", "content": "Looking.", "phase": "commentary"},
    ]


async def test_reasoning_that_is_neither_sealed_nor_shown_does_not_go_back() -> None:
    """The server doesn't store it, so it could not find it by its id."""
    empty = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "One."}]}
    reply = await ask(send_events(completed(empty, message("x"))))
    assert (reply.reasoning, reply.reasoning_data) == ("One.", None)


async def test_a_plain_answer_to_a_streamed_request_is_heard_at_once() -> None:
    heard = Heard()
    reply = await ask(send_json(completed(message("plain"))["response"]), heard)
    assert (reply.content, heard.texts) == ("plain", ["plain"])


async def test_summaries_are_heard_apart_from_each_other() -> None:
    part = {"type": "response.reasoning_summary_part.added"}
    delta = {"type": "response.reasoning_summary_text.delta"}
    heard = Heard()
    await ask(
        send_events(
            {**part, "summary_index": 0},
            {**delta, "delta": "One."},
            {**part, "summary_index": 1},
            {**delta, "delta": "Two."},
            completed(message("x")),
        ),
        heard,
    )
    assert heard.reasonings == ["One.", "\n\n", "Two."]


async def test_a_refusal_is_text() -> None:
    refused = {"type": "message", "id": "msg", "content": [{"type": "refusal", "refusal": "Not that."}]}
    assert (await ask(send_events(completed(refused)))).content == "Not that."


@pytest.mark.parametrize(
    ("content", "goes_back"),
    [
        ([{"type": "reasoning_text", "text": "One."}], True),
        ([{"type": "output_text", "text": "One."}], False),
        ([{"type": "reasoning_text"}], False),
        ("One.", False),
        ([], False),
    ],
)
async def test_open_reasoning_goes_back_only_in_the_form_of_servers_of_open_models(
    content: Json, goes_back: bool
) -> None:
    shown: Json = {"type": "reasoning", "id": "rs", "summary": [], "content": content}
    reply = await ask(send_events(completed(shown, message("x"))))
    assert (reply.reasoning_data is not None) is goes_back


@pytest.mark.parametrize(
    ("reason", "finish"), [("max_output_tokens", "length"), ("content_filter", "content_filter")]
)
async def test_an_incomplete_answer_says_why_and_half_a_call_is_left_out(reason: str, finish: str) -> None:
    """B33, the variant with an output limit: distinguishable, and the half call can't be run."""
    calls = [("view", "{}"), ("edit", '{"path":"a","n')]
    for stream in (False, True):
        reply = await ask(Say("Hm.", calls=calls, finish_reason=reason), stream=stream)
        assert reply.finish_reason == finish
        assert [call.name for call in reply.tool_calls] == ["view"]


@pytest.mark.parametrize(
    "failed",
    [
        {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "It broke."}}},
        {"type": "error", "code": "server_error", "message": "It broke."},
        {"type": "error", "error": {"type": "server_error", "message": "It broke."}},
    ],
)
async def test_an_error_inside_a_stream_is_worth_another_try(failed: Json) -> None:
    half = {"type": "response.output_text.delta", "delta": "Half a sen"}
    error = await fail(Send([event(half), event(failed)]))
    assert (error.kind, error.retryable, error.error_code) == ("query", True, "server_error")
    assert str(error).endswith("answered with an error: It broke.")
