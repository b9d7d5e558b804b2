"""What holds for each API alike: replies, calls, failures, keys, and the bytes of growing conversations."""

import re
from itertools import chain, pairwise, repeat, takewhile
from pathlib import Path

import anyio
import pytest
from apis import APIS, Spoken
from exchange import KEY, PATIENT, Heard, request
from tests.engine.harness import Recorder, answer_everything, app_tools, options, say

from turnwright.engine.models.endpoint import Fixed
from turnwright.engine.runtime import Runtime
from turnwright.errors import ProviderError
from turnwright.protocol.events.compaction import CompactionComplete
from turnwright.protocol.messages import Assistant, Image, Message, Reply, ToolCall, ToolOutput, User
from turnwright.protocol.wire import Json
from turnwright.providers.base import ModelRequest
from turnwright.providers.transport import Timeouts
from turnwright.store.memory import MemoryStore
from turnwright.testing.answers import Say, Send, refuse
from turnwright.testing.model_server import ModelServer

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("api", APIS, ids=str)]

ANSWER = Say(
    "Let me look – één moment 😀.",
    calls=[("view", {"path": "a.txt"}), ("view", {"path": "é.txt"})],
    reasoning="Two files to see.",
)

SIGNS_OF_LIFE = {
    "comments": b": still here\n\n",
    "pings": b'event: ping\ndata: {"type": "ping"}\n\n',
    "blank data": b"data:\n\ndata: \n\n",
    "empty events": b'event: keepalive\ndata: {"type":"keepalive","sequence_number":3}\n\n',
}
FINISHES = (b'"finish_reason":"', b'"stop_reason":"', b'"response.completed"')


async def respond(
    api: Spoken, server: ModelServer, asked: ModelRequest, timeouts: Timeouts = PATIENT
) -> tuple[Reply, Heard]:
    provider, heard = api.provider(server, timeouts), Heard()
    try:
        with anyio.fail_after(20):
            return await provider.respond(asked, heard), heard
    finally:
        await provider.aclose()


async def fail(api: Spoken, server: ModelServer, timeouts: Timeouts = PATIENT) -> ProviderError:
    """The error of a request that was sent once, and that doesn't show the key."""
    with pytest.raises(ProviderError) as raised:
        await respond(api, server, request(stream=True), timeouts)
    assert len(server.requests) == 1
    assert raised.value.sent
    assert KEY not in f"{raised.value} {raised.value!r} {raised.value.detail}"
    return raised.value


@pytest.mark.parametrize("stream", [False, True])
async def test_text_reasoning_and_parallel_calls_come_streamed_or_whole(api: Spoken, stream: bool) -> None:
    async with api.serve([ANSWER], api_key=KEY) as server:
        reply, heard = await respond(api, server, request(stream=stream))
    assert server.violations == []
    assert (reply.content, reply.reasoning, reply.finish_reason) == (
        ANSWER.text,
        ANSWER.reasoning,
        "tool_calls",
    )
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("view", '{"path":"a.txt"}'),
        ("view", '{"path":"é.txt"}'),
    ]
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 7)
    assert (reply.model, reply.provider_call_id) == ("m", "req-0")
    assert reply.api_call_id
    assert (heard.sends, "".join(heard.texts), "".join(heard.reasonings)) == (
        (1, reply.content, reply.reasoning) if stream else (1, "", "")
    )


async def test_a_stream_may_be_cut_into_single_bytes(api: Spoken) -> None:
    whole = b"".join(api.pieces(ANSWER))
    single = Send([whole[n : n + 1] for n in range(len(whole))])
    async with api.serve([single, ANSWER]) as server:
        reply, _ = await respond(api, server, request(stream=True))
        again, _ = await respond(api, server, request(stream=True))
    assert (reply.content, reply.reasoning) == (again.content, again.reasoning)
    assert [call.arguments for call in reply.tool_calls] == [call.arguments for call in again.tool_calls]


@pytest.mark.parametrize("then", ["end", "cut"])
async def test_a_stream_that_dies_anywhere_is_no_reply(api: Spoken, then: str) -> None:
    """B33: half a call is never run, wherever the stream stopped."""
    pieces = api.pieces(Say("Editing.", calls=[("edit", {"path": "a", "new": "text " * 10})]))
    last = next(n for n, piece in enumerate(pieces) if any(mark in piece for mark in FINISHES))
    for kept in (1, last // 2, last):
        broken = Send(pieces[:kept], then="end" if then == "end" else "cut")
        async with api.serve([broken]) as server:
            error = await fail(api, server)
        assert (error.kind, error.retryable) == ("connection", True)


async def test_a_stream_that_stalls_ends(api: Spoken) -> None:
    """B04: silence in the middle of an answer is an error, in the time that was set."""
    stalled = Send(api.pieces(ANSWER)[:4], then="stall")
    async with api.serve([stalled]) as server:
        error = await fail(api, server, Timeouts(read=0.2))
    assert (error.kind, error.retryable) == ("connection", True)
    assert "sent nothing for 0.2 seconds" in str(error)


@pytest.mark.parametrize("kept_alive_by", SIGNS_OF_LIFE)
@pytest.mark.parametrize("begun", [0, 4])
async def test_a_stream_that_only_signs_of_life_keep_open_ends(
    api: Spoken, kept_alive_by: str, begun: int
) -> None:
    """B04: comments and pings for ever, from the start or in the middle of an answer."""
    pieces = chain(api.pieces(ANSWER)[:begun], repeat(SIGNS_OF_LIFE[kept_alive_by]))
    kept_open = Send(pieces, headers={"content-type": "text/event-stream"})
    async with api.serve([kept_open]) as server:
        error = await fail(api, server, Timeouts(progress=0.2))
    assert (error.kind, error.retryable) == ("connection", True)
    assert str(error).endswith("sent nothing of a reply for 0.2 seconds")


async def test_a_server_that_stays_silent_after_the_end_is_not_waited_for(api: Spoken) -> None:
    answer = Send(api.pieces(Say("all")), then="stall")
    async with api.serve([answer]) as server:
        with anyio.fail_after(5):
            reply, _ = await respond(api, server, request(stream=True))
    assert reply.content == "all"


async def test_cancellation_closes_the_connection(api: Spoken) -> None:
    gate = anyio.Event()
    async with api.serve([Say("never", gate=gate)]) as server:
        provider, heard = api.provider(server), Heard()
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(provider.respond, request(stream=True), heard)
                await server.wait_for_requests(1)
                tasks.cancel_scope.cancel()
            await server.wait_for_hang_ups(1)
        await provider.aclose()
    assert heard.sends == 1


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [(401, "authentication", False), (403, "authorization", False), (429, "rate_limit", True),
     (500, "query", True), (503, "query", True), (400, "query", False)],
)  # fmt: skip
async def test_a_refusal_names_the_provider_and_never_the_key(
    api: Spoken, status: int, kind: str, retryable: bool
) -> None:
    async with api.serve([refuse(status, f"no, not with {KEY}")]) as server:
        error = await fail(api, server)
    host = server.base_url.removeprefix("http://").partition("/")[0]
    assert (error.kind, error.status, error.retryable) == (kind, status, retryable)
    assert f"{provider_name(api)} at {host}" in str(error)
    assert str(error).endswith(f"({status}): no, not with ***")


async def test_a_key_that_the_server_does_not_know_is_said_to_be_refused(api: Spoken) -> None:
    async with api.serve([ANSWER], api_key="another-key") as server:
        error = await fail(api, server)
    assert error.kind == "authentication"
    assert f"the API key of provider {provider_name(api)}" in str(error)


async def test_models_are_listed_with_the_key(api: Spoken) -> None:
    if api.name == "azure":
        pytest.skip("what is deployed has no list on the versioned route")
    async with api.serve(api_key=KEY, models=[{"id": "one", "display_name": "One"}]) as server:
        provider = api.provider(server)
        models = await provider.models()
        await provider.aclose()
    assert [(model.id, model.name) for model in models] == [("one", "One")]


async def test_each_turn_begins_with_the_very_bytes_of_the_turn_before(api: Spoken) -> None:
    messages: list[Message] = [User("go", (Image("image/png", "AAAA"),))]
    async with api.serve(lambda body: ANSWER) as server:
        provider = api.provider(server)
        for n in range(6):
            reply = await provider.respond(request(messages, stream=True), Heard())
            made = Assistant(reply.content, reply.tool_calls, reply.reasoning, reply.reasoning_data)
            messages += [made, *(ToolOutput(call.id, f"contents {n} – é") for call in reply.tool_calls)]
        await provider.aclose()
    assert server.violations == []
    for before, after in zip(server.bodies, server.bodies[1:], strict=False):
        assert after.startswith(before.removesuffix(tail(api)))


async def test_the_oldest_pictures_give_way_in_blocks_and_requests_in_between_begin_alike(
    api: Spoken,
) -> None:
    """Each turn brings two pictures, one of the user and one of a tool, and the model takes eight."""
    messages: list[Message] = []
    async with api.serve(lambda body: Say("seen")) as server:
        provider = api.provider(server)
        for n in range(12):
            messages += [
                User(f"look {n}", (Image("image/png", f"user{n:04}", f"{n}.png"),)),
                Assistant("", (ToolCall(f"c{n}", "view", "{}"),)),
                ToolOutput(f"c{n}", "drawn", (Image("image/png", f"tool{n:04}"),)),
            ]
            await provider.respond(request(messages, most_pictures=8), Heard())
            messages.append(Assistant("seen"))
        await respond(api, server, request(messages[:-1], most_pictures=8))
        await provider.aclose()
    assert server.violations == []
    *bodies, rebuilt = server.bodies
    assert rebuilt == bodies[-1]
    pictures = [re.findall(rb"(?:user|tool)\d{4}", body) for body in bodies]
    assert [len(shown) for shown in pictures] == [2, 4, 6, 8, 6, 8, 6, 8, 6, 8, 6, 8]
    newest = [f"{kind}{n:04}".encode() for n in range(8, 12) for kind in ("user", "tool")]
    assert pictures[-1] == newest
    begins_alike: list[bool] = []
    for before, after in pairwise(bodies):
        begins_alike.append(after.startswith(before.removesuffix(tail(api))))
        same = len([*takewhile(bool, map(int.__eq__, before, after))])
        assert before[:same].count(b"is left out") == before.count(b"is left out")
    assert begins_alike == [True, True, *[True, False] * 4, True]


async def test_a_conversation_that_is_rebuilt_has_the_same_bytes(api: Spoken) -> None:
    calls = (ToolCall("a", "view", '{"path": "x"}'), ToolCall("b", "view", "not json"))
    history = [User("go"), Assistant("", calls), ToolOutput("a", "one"), ToolOutput("b", ""), User("and?")]
    async with api.serve(lambda body: ANSWER) as server:
        provider = api.provider(server)
        for count in (1, 4, 5):
            await provider.respond(request(history[:count]), Heard())
        await respond(api, server, request(history))
        await provider.aclose()
    assert server.violations == []
    assert server.bodies[-1] == server.bodies[-2]


async def test_a_history_that_every_other_api_made_is_valid(api: Spoken) -> None:
    """The model may be switched between providers; what one keeps for itself is no other's."""
    history: list[Message] = []
    for other in APIS:
        async with other.serve([ANSWER]) as server:
            reply, _ = await respond(other, server, request())
        calls = tuple(ToolCall(f"{other}.{call.id}", call.name, call.arguments) for call in reply.tool_calls)
        made = Assistant(reply.content, calls, reply.reasoning, reply.reasoning_data)
        history += [User("go"), made, *(ToolOutput(call.id, "ok") for call in calls)]
    async with api.serve([Say("done")]) as server:
        await respond(api, server, request(history))
    assert server.violations == []


async def test_five_hundred_turns_with_a_summary_every_fifty_stay_valid(api: Spoken, tmp_path: Path) -> None:
    """Each prompt makes two parallel calls, and then an answer.

    Each request starts with the very bytes of the one before it, unless a summary came between the two.
    """
    conversations: list[list[bytes]] = [[]]

    def answer(body: dict[str, Json]) -> Say:
        number, sent = len(server.requests), server.bodies[-1]
        if b"The history is being compacted" in sent[-2000:]:
            conversations.append([])
            return Say(f"summary {number}")
        conversations[-1].append(sent)
        if len(conversations[-1]) % 2 == 0:
            return Say(f"answer {number}", reasoning="done")
        calls = [("one", {"n": number}), ("two", "{}")]
        return Say("" if number % 3 else "Looking.", calls=calls, reasoning="Think." if number % 5 else "")

    client = Recorder()
    async with api.serve(answer) as server:
        provider = api.provider(server)
        endpoints = Fixed(provider, "m")
        async with Runtime(MemoryStore(tmp_path), endpoints, home=tmp_path, environment={}) as runtime:
            session = await runtime.create(options(tmp_path, tools=app_tools("one", "two")), client)
            client.on_event = answer_everything(session)
            for n in range(1, 251):
                say(session, f"prompt {n}")
                await client.until("session.idle", n)
                if n % 25 == 0:
                    await session.compaction.run("manual")
        await provider.aclose()
    assert server.violations == []
    assert [len(bodies) for bodies in conversations] == [50] * 10 + [0]
    assert len(server.requests) == 510 == client.count("assistant.turn_start")
    assert client.count("session.error") == 0
    summaries = [e.data for e in client.persisted if isinstance(e.data, CompactionComplete)]
    assert [summary.success for summary in summaries] == [True] * 10
    for bodies in conversations:
        for before, after in pairwise(bodies):
            assert after.startswith(before.removesuffix(tail(api)))


def provider_name(api: Spoken) -> str:
    return {"chat": "openai", "messages": "anthropic", "responses": "openai", "azure": "azure"}[api.name]


def tail(api: Spoken) -> bytes:
    """What closes a request's body, and moves on with each turn."""
    return b',"cache_control":{"type":"ephemeral"}}]}]}' if api.name == "messages" else b"]}"


async def test_json_that_is_nested_beyond_reading_is_a_failed_call_and_not_a_bug(api: Spoken) -> None:
    deep = b'data: {"a":' + b"[" * 100_000 + b"\n\n"
    async with api.serve([Send([deep])], api_key=KEY) as server:
        error = await fail(api, server)
    assert "answered with something that is not JSON" in str(error)


async def test_arguments_that_are_nested_beyond_reading_go_back_as_text(api: Spoken) -> None:
    arguments = "[" * 100_000
    async with api.serve([Say(calls=[("view", arguments)]), Say("done")], api_key=KEY) as server:
        reply, _ = await respond(api, server, request(stream=True))
        (call,) = reply.tool_calls
        assert call.arguments == arguments
        made = Assistant(reply.content, reply.tool_calls, reply.reasoning, reply.reasoning_data)
        await respond(api, server, request([User("hi"), made, ToolOutput(call.id, "no")]))
    assert server.violations == []
