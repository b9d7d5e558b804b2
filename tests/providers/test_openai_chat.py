"""Replies of a chat-completions server, in every form that servers give them."""

import anyio
import pytest
from exchange import KEY, Heard, ask, fail, request, told

from turnwright.errors import ProviderError
from turnwright.protocol.messages import Assistant, Reply, ToolCall, ToolOutput, Usage, User
from turnwright.protocol.wire import Json, encode
from turnwright.providers.base import ModelInfo
from turnwright.providers.openai_chat import OpenAIChat
from turnwright.testing.chat_answers import (
    DONE,
    Say,
    Send,
    call,
    event,
    refuse,
    say,
    send_events,
    send_json,
)
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio


def delta(index: int = 0, finish: str | None = None, **fields: Json) -> Json:
    return {"choices": [{"index": index, "delta": fields, "finish_reason": finish}]}


def piece(name: str | None = None, arguments: str | None = None, **fields: Json) -> Json:
    """One tool call's part of a delta."""
    return {"function": {"name": name, "arguments": arguments}, **fields}


def calls_of(reply: Reply) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in reply.tool_calls]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_reply_is_the_same_streamed_or_whole(stream: bool) -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 8},
    }
    answer = Say(
        "Let me look – één moment 😀.",
        calls=[("view", {"path": "a.txt"}), ("view", '{"path": "b'), ("view", "")],
        reasoning="Two files and a mistake.",
        usage=usage,
    )
    heard = Heard()
    async with ChatServer([answer]) as server:
        provider = OpenAIChat(server.base_url)
        reply = await provider.respond(request(stream=stream), heard)
        await provider.aclose()
    assert server.violations == []
    assert reply == Reply(
        content="Let me look – één moment 😀.",
        tool_calls=(
            ToolCall("call_0_0", "view", '{"path":"a.txt"}'),
            ToolCall("call_0_1", "view", '{"path": "b'),
            ToolCall("call_0_2", "view", "{}"),
        ),
        reasoning="Two files and a mistake.",
        usage=Usage(input_tokens=100, output_tokens=20, cache_read_tokens=64, reasoning_tokens=8),
        finish_reason="tool_calls",
        model="m",
        api_call_id="chatcmpl-0",
        provider_call_id="req-0",
    )
    assert (heard.sends, "".join(heard.texts), "".join(heard.reasonings)) == (
        (1, reply.content, reply.reasoning) if stream else (1, "", "")
    )


async def test_a_stream_may_be_cut_into_single_bytes() -> None:
    whole = event(delta(content="één ")) + event(delta(content="😀", finish="stop")) + DONE
    async with ChatServer([Send([whole[n : n + 1] for n in range(len(whole))])]) as server:
        assert (await ask(server)).content == "één 😀"


async def test_a_plain_answer_to_a_streamed_request_is_heard_at_once() -> None:
    answer = {"choices": [{"message": {"role": "assistant", "content": "plain"}, "finish_reason": "stop"}]}
    heard = Heard()
    async with ChatServer([send_json(answer)]) as server:
        provider = OpenAIChat(server.base_url)
        reply = await provider.respond(request(stream=True), heard)
        await provider.aclose()
    assert (reply.content, heard.texts) == ("plain", ["plain"])


@pytest.mark.parametrize("kind", ["text/event-stream", "text/plain"])
async def test_a_stream_is_accepted_though_none_was_asked_for(kind: str) -> None:
    pieces = [event(delta(content="streamed")), event(delta(finish="stop")), DONE]
    async with ChatServer([Send(pieces, headers={"content-type": kind})]) as server:
        assert (await ask(server, stream=False)).content == "streamed"


async def test_several_choices_are_one_message() -> None:
    made: list[Json] = [
        {"id": f"c{n}", "type": "function", "function": {"name": "view", "arguments": f'{{"n": {n}}}'}}
        for n in range(3)
    ]
    messages: list[Json] = [
        {"role": "assistant", "content": "I'll look."},
        {"role": "assistant", "content": None, "tool_calls": made[:1]},
        {"role": "assistant", "content": " Twice.", "tool_calls": made[1:]},
    ]
    choices = [
        {"index": index, "message": message, "finish_reason": "tool_calls" if index else "stop"}
        for index, message in enumerate(messages)
    ]
    async with ChatServer([send_json({"choices": choices})]) as server:
        reply = await ask(server, stream=False)
    assert reply == Reply(
        "I'll look. Twice.",
        tuple(ToolCall(f"c{n}", "view", f'{{"n": {n}}}') for n in range(3)),
        finish_reason="tool_calls",
    )


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param(
            [[piece("view", "", index=0, id="x")], [piece("", '{"n"', index=0, id="x")],
             [piece(None, ": 0}", index=0)], [piece("view", '{"n": 1}', index=1, id="y")]],
            id="pieces by index, the id repeated",
        ),
        pytest.param(
            [[piece("view", '{"n": 0}', index=0, id="x"), piece("view", '{"n": 1}', index=0, id="y")]],
            id="every index 0",
        ),
        pytest.param(
            [[piece("view", '{"n": 0}', id="x")], [piece("view", '{"n": 1}', id="y")]], id="no index"
        ),
        pytest.param([[piece("view", '{"n": 0}'), piece("view", '{"n": 1}')]], id="neither index nor id"),
        pytest.param(
            [[piece("view", '{"n": 0}', id="x")], [piece("view", '{"n": 1}', id="x")]], id="the same id twice"
        ),
        pytest.param(
            [[piece("view", '{"n"', index=0, id=None)], [piece("view", '{"n": 1}', index=1, id="")],
             [piece("view", ": 0}", index=0, id=None)]],
            id="ids null and empty, pieces mixed, the name repeated",
        ),
        pytest.param(
            [[{"index": 0, "id": "x", "function": {"name": "view", "arguments": {"n": 0}}}],
             [{"index": 1, "id": "y", "function": {"name": "view", "arguments": {"n": 1}}}]],
            id="arguments as objects",
        ),
    ],
)  # fmt: skip
async def test_calls_are_put_together_however_a_server_numbers_them(deltas: list[list[Json]]) -> None:
    """B25: calls without an id, or with one id for all, get ids of their own."""
    chunks = [delta(tool_calls=calls) for calls in deltas]
    async with ChatServer([send_events(*chunks, delta(finish="tool_calls"))]) as server:
        reply = await ask(server)
    assert [(name, arguments.replace(" ", "")) for name, arguments in calls_of(reply)] == [
        ("view", '{"n":0}'),
        ("view", '{"n":1}'),
    ]
    ids = {call.id for call in reply.tool_calls}
    assert len(ids) == 2
    assert all(ids)


async def test_ids_that_a_server_uses_again_in_a_later_turn_are_replaced() -> None:
    """B25: a server that numbers the calls of each reply from 0 would make two calls the same."""
    answers = [
        send_events(delta(tool_calls=[piece("view", "{}", index=0, id="call_0")], finish="tool_calls"))
        for _ in range(2)
    ]
    async with ChatServer(answers) as server:
        provider = OpenAIChat(server.base_url)
        first = await provider.respond(request([User("go")]), Heard())
        history = [User("go"), Assistant("", first.tool_calls), ToolOutput("call_0", "ok")]
        second = await provider.respond(request(history), Heard())
        await provider.aclose()
    assert server.violations == []
    assert first.tool_calls == (ToolCall("call_0", "view", "{}"),)
    assert second.tool_calls[0].id not in ("", "call_0")


HALF_A_CALL = [delta(tool_calls=[piece("edit", '{"path":"a","new', index=0, id="x")])]


@pytest.mark.parametrize("then", ["end", "cut"])
async def test_half_a_call_is_never_a_reply_when_the_stream_dies(then: str) -> None:
    """B33: name edit, half of its arguments, then the end without a finish reason."""
    pieces = [event(chunk) for chunk in HALF_A_CALL]
    async with ChatServer([Send(pieces, then="end" if then == "end" else "cut")]) as server:
        error = await fail(server)
    assert (error.kind, error.retryable, error.sent) == ("connection", True, True)
    assert "before the reply was complete" in str(error)


async def test_half_a_call_is_left_out_when_the_output_limit_cut_it() -> None:
    """B33, the variant with finish_reason=length: distinguishable, and the half call can't be run."""
    whole = delta(content="Editing.", tool_calls=[piece("view", "{}", index=0, id="v")])
    half = delta(tool_calls=[piece("edit", '{"path":"a","new', index=1, id="x")])
    async with ChatServer([send_events(whole, half, delta(finish="length"))]) as server:
        reply = await ask(server)
    assert reply == Reply("Editing.", (ToolCall("v", "view", "{}"),), finish_reason="length", cut_call="edit")


@pytest.mark.parametrize(
    ("given", "finish"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "content_filter"), ("end_turn", "stop"),
     ("something_new", "unknown")],
)  # fmt: skip
async def test_the_finish_reason_is_passed_on(given: str, finish: str) -> None:
    async with ChatServer([Say("x", finish_reason=given)]) as server:
        assert (await ask(server)).finish_reason == finish


@pytest.mark.parametrize("ending", ["only a finish reason", "only the done mark", "a cut after the finish"])
async def test_a_stream_is_complete_by_its_finish_reason_or_its_done_mark(ending: str) -> None:
    text, finish = event(delta(content="all")), event(delta(finish="stop"))
    answers = {
        "only a finish reason": Send([text, finish]),
        "only the done mark": Send([text, DONE]),
        "a cut after the finish": Send([text, finish], then="cut"),
    }
    async with ChatServer([answers[ending]]) as server:
        assert await ask(server) == Reply("all")


async def test_a_server_that_stays_silent_after_the_done_mark_is_not_waited_for() -> None:
    async with ChatServer([Send([event(delta(content="all")), DONE], then="stall")]) as server:
        with anyio.fail_after(5):
            assert (await ask(server)).content == "all"


async def test_thinking_comes_under_several_names_and_refusals_are_text() -> None:
    chunks = [
        delta(reasoning="a"),
        delta(reasoning_content="b", reasoning="b"),
        delta(reasoning_text="c"),
        delta(content=[{"type": "text", "text": "parts, "}]),
        delta(refusal="refused", finish="stop"),
    ]
    async with ChatServer([send_events(*chunks)]) as server:
        assert await ask(server) == Reply("parts, refused", reasoning="abc")


@pytest.mark.parametrize("answer", [send_json({"choices": []}), send_events({"choices": []})])
async def test_an_answer_without_choices_is_one_clear_error(answer: Send) -> None:
    async with ChatServer([answer]) as server:
        error = await fail(server)
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    assert told(error) == {
        "message": f"provider openai at {host} answered without a reply",
        "kind": "query",
        "status": 200,
        "retryable": False,
        "sent": True,
    }


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"<html>portal</html>", "text/html"), (b"data: {broken\n\n", "text/event-stream"), (b"", "text/plain")],
)
async def test_an_answer_that_is_not_json_is_one_clear_error(body: bytes, kind: str) -> None:
    async with ChatServer([Send([body] if body else [], headers={"content-type": kind})]) as server:
        error = await fail(server)
    assert "answered with something that is not JSON" in str(error)
    assert error.kind == "query"


@pytest.mark.parametrize(
    "piece",
    [
        b'event: error\ndata: {"message":"no capacity","code":503}\n\n',
        b"event: error\ndata: no capacity\n\n",
        event({"object": "error", "message": "no capacity", "type": "ServerError", "code": 503}),
    ],
    ids=["event", "plain text", "object"],
)
async def test_an_error_that_only_its_event_or_its_object_tells_of_is_told(piece: bytes) -> None:
    pieces = [event(delta(content="Half a sen")), piece, DONE]
    async with ChatServer([Send(pieces)]) as server:
        error = await fail(server)
    assert str(error).endswith(": no capacity")


@pytest.mark.parametrize("stream", [False, True])
async def test_an_error_inside_an_answer_is_an_error(stream: bool) -> None:
    broken = {"error": {"message": f"upstream failed for {KEY}", "code": 502}}
    answer = send_events(delta(content="Half a sen"), broken) if stream else send_json(broken)
    async with ChatServer([answer]) as server:
        error = await fail(server, stream=stream)
    assert str(error).endswith("(502): upstream failed for ***")
    assert (error.kind, error.status, error.retryable) == ("query", 502, True)


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [(400, "query", False), (401, "authentication", False), (429, "rate_limit", True), (500, "query", True)],
)
async def test_a_refusal_is_one_request_and_one_clear_error(status: int, kind: str, retryable: bool) -> None:
    headers = {"retry-after": "1", "x-github-request-id": "some-request-id"}
    answer = refuse(status, f"No, {KEY}", code="the_code", headers=headers)
    async with ChatServer([answer]) as server:
        error = await fail(server)
    assert "No, ***" in str(error)
    assert (error.kind, error.status, error.retryable) == (kind, status, retryable)
    assert (error.error_code, error.retry_after, error.provider_call_id) == ("the_code", 1, "some-request-id")


async def test_the_key_and_the_headers_of_provider_and_request_go_out() -> None:
    async with ChatServer([say("a"), say("b")], api_key="per-request") as server:
        provider = OpenAIChat(server.base_url, api_key=KEY, headers={"X-Team": "red", "X-Also": "1"})
        with pytest.raises(ProviderError, match="was refused"):
            await provider.respond(request(), Heard())
        headers = {"Authorization": "Bearer per-request", "X-Team": "blue"}
        await provider.respond(request(headers=headers), Heard())
        await provider.aclose()
    names = ("authorization", "x-team", "x-also", "content-type")
    assert [[sent.get(name) for name in names] for sent in server.headers] == [
        [f"Bearer {KEY}", "red", "1", "application/json"],
        ["Bearer per-request", "blue", "1", "application/json"],
    ]


async def test_a_header_that_cannot_be_sent_fails_before_anything_is_sent() -> None:
    heard = Heard()
    provider = OpenAIChat("http://127.0.0.1:9/v1")
    with pytest.raises(ProviderError, match="control character") as raised:
        await provider.respond(request(headers={"x": "a\nb"}), heard)
    assert (raised.value.sent, heard.sends) == (False, 0)


async def test_models_are_read_in_the_shapes_that_servers_list_them() -> None:
    copilot = {
        "id": "claude",
        "name": "Claude",
        "capabilities": {
            "supports": {"vision": True},
            "limits": {"max_context_window_tokens": 128000, "max_output_tokens": 16000},
        },
    }
    router = {
        "id": "r/x",
        "context_length": 32000,
        "top_provider": {"max_completion_tokens": None},
        "architecture": {"input_modalities": ["text", "image"]},
    }
    plain = {"id": "gpt", "object": "model"}
    async with ChatServer(models=[copilot, router, plain, {"no": "id"}], api_key=KEY) as server:
        provider = OpenAIChat(server.base_url, api_key=KEY)
        models = await provider.models()
        await provider.aclose()
    assert models == [
        ModelInfo("claude", "Claude", 128000, 16000, vision=True, raw=copilot),
        ModelInfo("r/x", "r/x", 32000, None, vision=True, raw=router),
        ModelInfo("gpt", "gpt", raw=plain),
    ]
    assert server.requests == []


async def test_a_refused_key_is_told_when_models_are_listed() -> None:
    async with ChatServer(api_key="other") as server:
        provider = OpenAIChat(server.base_url, api_key=KEY)
        with pytest.raises(ProviderError, match="was refused") as raised:
            await provider.models()
        await provider.aclose()
    assert raised.value.kind == "authentication"
    assert KEY not in f"{raised.value} {raised.value.detail}"


async def test_a_large_answer_and_a_large_request_pass() -> None:
    text = "word " * 400_000
    async with ChatServer(lambda body: send_json({"choices": [{"message": body["messages"][-1]}]})) as server:
        provider, heard = OpenAIChat(server.base_url), Heard()
        reply = await provider.respond(request([User(text)]), heard)
        await provider.aclose()
    assert (reply.content == text, heard.sends) == (True, 1)


async def test_the_servers_count_is_the_callers_count() -> None:
    async with ChatServer([call("view"), refuse(500, "no"), say("done")]) as server:
        provider, heard = OpenAIChat(server.base_url), Heard()
        await provider.respond(request(), heard)
        with pytest.raises(ProviderError):
            await provider.respond(request(), heard)
        await provider.respond(request(), heard)
        await provider.aclose()
    assert len(server.requests) == heard.sends == 3
    assert encode(server.requests[0]) == encode(server.requests[2])
