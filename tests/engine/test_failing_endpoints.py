"""What a run makes of an endpoint that fails, over real HTTP: which turns, which events, which words."""

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import pytest

from tests.cases.local_tool import LocalTool
from tests.cases.scene import Scene, scene, turns
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.compaction import CompactionComplete
from turnwright.protocol.events.conversation import (
    AssistantMessage,
    ModelCallFailure,
    TurnEnd,
    TurnRetry,
    TurnStart,
)
from turnwright.protocol.events.session import SessionError
from turnwright.providers.openai_chat import OpenAIChat
from turnwright.providers.transport import Timeouts
from turnwright.testing.chat_answers import ChatAnswer, Say, Send, cut, event, refuse, say, stall
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio

KEY = "sk-test-CANARY-0123456789"
HALF = event({"choices": [{"index": 0, "delta": {"content": "half an ans"}}]})
AT_ONCE = {"retry-after": "0"}
MILESTONES = (TurnStart, ModelCallFailure, TurnEnd, TurnRetry, AssistantMessage, SessionError)


async def ask(
    tmp_path: Path, script: Sequence[ChatAnswer], *, prompts: int = 1, name: str = "acme"
) -> tuple[Scene, ChatServer]:
    """Prompts to a model that answers so; the scene as it was at the end, and the server."""
    async with ChatServer(script) as server:
        provider = OpenAIChat(server.base_url, api_key=KEY, name=name, timeouts=Timeouts(read=0.3))
        try:
            tools = [LocalTool("ok")]
            async with scene(tmp_path, provider, machine=tools, streaming=True) as at:
                for number in range(prompts):
                    await at.prompt(f"prompt {number}")
        finally:
            await provider.aclose()
    assert server.violations == []
    assert turns(at.client.events) == len(server.requests)
    assert KEY.encode() not in b"".join(event.encoded for event in at.client.events)
    return at, server


def steps(events: Sequence[Event]) -> list[str]:
    return [event.type for event in events if isinstance(event.data, MILESTONES)]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_a_status_that_may_pass_is_tried_again_in_a_turn_of_its_own(
    tmp_path: Path, status: int
) -> None:
    at, server = await ask(tmp_path, [refuse(status, "not now", headers=AT_ONCE), say("here")])
    assert len(server.requests) == 2
    assert steps(at.client.events) == [
        "assistant.turn_start",
        "model.call_failure",
        "assistant.turn_end",
        "assistant.turn_retry",
        "assistant.turn_start",
        "assistant.message",
        "assistant.turn_end",
    ]
    (failure,) = at.all(ModelCallFailure)
    assert (failure.status_code, failure.failure_kind) == (status, "api")
    assert "not now" in (failure.error_message or "")
    (retried,) = at.all(TurnRetry)
    assert retried.reason == ("rate_limit" if status == 429 else "query")


@pytest.mark.parametrize("answer", [cut(), cut(HALF), stall(), stall(HALF)])
async def test_a_connection_that_breaks_or_falls_silent_is_tried_again_and_says_why(
    tmp_path: Path, answer: Send
) -> None:
    """B04"""
    at, server = await ask(tmp_path, [answer, say("here")])
    assert len(server.requests) == 2
    assert [failure.failure_kind for failure in at.all(ModelCallFailure)] == ["transport"]
    assert [retried.reason for retried in at.all(TurnRetry)] == ["connection"]
    assert [message.content for message in at.all(AssistantMessage)] == ["here"]


@pytest.mark.parametrize("answer", [refuse(503, "not now", headers=AT_ONCE), stall(HALF), cut()])
async def test_the_error_is_said_after_the_last_attempt_and_never_before(
    tmp_path: Path, answer: Send
) -> None:
    at, server = await ask(tmp_path, [answer] * 9)
    assert len(server.requests) == 5
    one = ["assistant.turn_start", "model.call_failure", "assistant.turn_end"]
    assert steps(at.client.events) == [*([*one, "assistant.turn_retry"] * 4), *one, "session.error"]


@pytest.mark.parametrize("as_date", [False, True])
async def test_a_limit_of_hours_is_one_request_and_an_error_with_the_time_when_it_ends(
    tmp_path: Path, as_date: bool
) -> None:
    """B11"""
    until = datetime.now(UTC).timestamp() + 7200
    wait = format_datetime(datetime.fromtimestamp(until, UTC), usegmt=True) if as_date else "7200"
    at, server = await ask(tmp_path, [refuse(429, "come back later", headers={"retry-after": wait})] * 9)
    assert len(server.requests) == 1
    (error,) = at.all(SessionError)
    assert (error.error_type, error.status_code) == ("rate_limit", 429)
    said = error.message.rpartition("(until ")[2].removesuffix(" UTC)")
    assert abs(datetime.fromisoformat(f"{said}+00:00").timestamp() - until) < 120


async def test_a_server_that_is_down_for_hours_says_until_when(tmp_path: Path) -> None:
    at, server = await ask(tmp_path, [refuse(503, "upkeep", headers={"retry-after": "7200"})])
    assert len(server.requests) == 1
    (error,) = at.all(SessionError)
    assert error.message.endswith(" UTC)")


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_named_by_its_provider_and_not_tried_again(
    tmp_path: Path, status: int
) -> None:
    at, server = await ask(tmp_path, [refuse(status, f"the key {KEY} is no good")], name="work")
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    claims = {
        401: f"the API key of provider work at {host} was refused (401)",
        403: f"provider work at {host} does not allow this request to the API key that it was sent (403)",
    }
    assert [error.message for error in at.all(SessionError)] == [f"{claims[status]}: the key *** is no good"]


@pytest.mark.parametrize("stays", [False, True])
async def test_a_request_too_long_is_summarised_once_and_sent_again(tmp_path: Path, stays: bool) -> None:
    long = refuse(400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded")
    script = [say("one"), long, say("<overview>all</overview>"), *([long] if stays else [say("two")])]
    at, server = await ask(tmp_path, script, prompts=2)
    assert len(server.requests) == 4
    assert [(done.trigger, done.success) for done in at.all(CompactionComplete)] == [("context_limit", True)]
    kinds = [error.error_type for error in at.all(SessionError)]
    assert kinds == (["context_limit"] if stays else [])


async def test_thirty_rounds_of_parallel_calls_are_thirty_one_requests_each_a_turn_in_the_log(
    tmp_path: Path,
) -> None:
    """B43"""
    rounds = 30
    async with ChatServer([*[parallel()] * rounds, say("done")]) as server:
        provider = OpenAIChat(server.base_url)
        try:
            async with scene(tmp_path, provider, machine=[LocalTool("ok")]) as at:
                await at.prompt("go")
                events = at.session.journal.events()
        finally:
            await provider.aclose()
    assert server.violations == []
    ended = [event for event in events if isinstance(event.data, TurnEnd)]
    asked = [len(event.data.tool_requests) for event in events if isinstance(event.data, AssistantMessage)]
    assert turns(events) == len(ended) == len(server.requests) == rounds + 1
    assert asked == [3] * rounds + [0]
    assert len(at.completions()) == 3 * rounds
    for before, after in zip(server.requests, server.requests[1:], strict=False):
        assert after["messages"][: len(before["messages"])] == before["messages"]


def parallel() -> ChatAnswer:
    return Say(calls=[("ok", "{}")] * 3)


async def test_a_declared_summary_is_the_one_request_that_is_no_turn_of_the_agents_own(
    tmp_path: Path,
) -> None:
    """B43"""
    script = [*[parallel()] * 3, say("done"), say("<overview>all</overview>"), say("again")]
    async with ChatServer(script) as server:
        provider = OpenAIChat(server.base_url)
        try:
            async with scene(tmp_path, provider, machine=[LocalTool("ok")]) as at:
                await at.prompt("go")
                await at.session.compaction.run("manual")
                await at.prompt("and now?")
                events = at.session.journal.events()
        finally:
            await provider.aclose()
    assert server.violations == []
    agents = [event.agent_id for event in events if isinstance(event.data, TurnStart)]
    assert agents == [None, None, None, None, "compaction", None]
    assert len(server.requests) == len(agents)
