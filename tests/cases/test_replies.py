"""Replies that are wrong, empty or cut off: the model hears of what it can mend."""

from pathlib import Path

import pytest

from tests.cases.local_tool import LocalTool
from tests.cases.scene import Scene, results, scene, turns
from turnwright.engine.cut_off import MOST, OF_A_CALL, OF_ALL
from turnwright.engine.loop import EMPTY_REPLIES
from turnwright.protocol.events.conversation import TurnEnd, TurnRetry
from turnwright.protocol.events.session import SessionError, Warned
from turnwright.protocol.wire import Json
from turnwright.providers.openai_chat import OpenAIChat
from turnwright.providers.scripted import calls, text
from turnwright.testing.chat_answers import ChatAnswer, Send, cut, event, refuse
from turnwright.testing.chat_answers import say as reply_with
from turnwright.testing.chat_server import ChatServer
from turnwright.tools.builtin import machine_tools

pytestmark = pytest.mark.anyio


async def test_arguments_that_do_not_parse_are_told_and_siblings_run(tmp_path: Path) -> None:
    """B28"""
    (tmp_path / "x").write_text("here")
    script = [calls(("a", "view", '{"path": "x'), ("b", "view", '{"path": "x"}')), text("again")]
    async with scene(tmp_path, script, machine=machine_tools()) as at:
        await at.prompt("look")
        told = results(at.model.requests[1])
        assert list(told) == ["a", "b"]
        assert "not a JSON object" in told["a"]
        assert told["b"] == "1. here"


@pytest.mark.parametrize("arguments", ["[1]", "3", '"x"', "null", "\ud800", '{"path": 5}', "{}"])
async def test_arguments_of_a_wrong_shape_are_told_to_the_model(tmp_path: Path, arguments: str) -> None:
    """B28"""
    script = [calls(("a", "view", arguments)), text("again")]
    async with scene(tmp_path, script, machine=machine_tools()) as at:
        await at.prompt("look")
        assert not at.completions()["a"].success
        assert len(at.model.requests) == 2


async def test_a_tool_that_does_not_exist_is_told_and_the_run_goes_on(tmp_path: Path) -> None:
    """B30"""
    script = [calls(("a", "nope", "{}"), ("b", "ok", "{}")), text("sorry")]
    async with scene(tmp_path, script, machine=[LocalTool("ok")]) as at:
        await at.prompt("go")
        told = results(at.model.requests[1])
        assert told["a"].startswith("Tool 'nope' does not exist.")
        assert told["b"] == "ok"


async def test_an_empty_reply_is_asked_for_again_and_each_request_is_a_turn(tmp_path: Path) -> None:
    """B31"""
    script = [calls(("a", "ok", "{}")), text(""), text("here it is")]
    async with scene(tmp_path, script, machine=[LocalTool("ok")]) as at:
        await at.prompt("go")
        assert turns(at.client.events) == len(at.model.requests) == 3
        assert [retry.reason for retry in at.all(TurnRetry)] == ["empty_reply"]


async def test_replies_that_stay_empty_end_the_run_with_a_warning(tmp_path: Path) -> None:
    """B31"""
    script = [calls(("a", "ok", "{}")), *[text("")] * 10]
    async with scene(tmp_path, script, machine=[LocalTool("ok")]) as at:
        await at.prompt("go")
        assert turns(at.client.events) == len(at.model.requests) == 4
        assert at.all(Warned) == [Warned("empty_reply", "The model's reply was empty (stop).")]
        assert at.client.types[-1] == "session.idle"


def half_a_call(finish: str | None) -> bytes:
    """A stream that stops inside the arguments of an edit."""
    made: Json = {
        "index": 0,
        "id": "cut",
        "type": "function",
        "function": {"name": "edit", "arguments": '{"path":"a","new'},
    }
    choice: Json = {"index": 0, "delta": {"tool_calls": [made]}, "finish_reason": finish}
    return event({"choices": [choice]})


async def through_http(tmp_path: Path, script: list[ChatAnswer]) -> tuple[Scene, ChatServer]:
    """One prompt to a model behind HTTP that streams; the scene as it was at the end, and the server."""
    async with ChatServer(script) as server:
        provider = OpenAIChat(server.base_url)
        try:
            async with scene(tmp_path, provider, machine=machine_tools(), streaming=True) as at:
                at.session.permissions.approve_all = True
                await at.prompt("go")
        finally:
            await provider.aclose()
    assert server.violations == []
    assert turns(at.client.events) == len(server.requests)
    return at, server


@pytest.mark.parametrize("ending", [cut(half_a_call(None)), Send([half_a_call(None)])])
async def test_a_call_cut_off_by_a_dead_stream_never_runs_and_the_request_is_made_again(
    tmp_path: Path, ending: Send
) -> None:
    """B33"""
    at, server = await through_http(tmp_path, [ending, reply_with("once more")])
    assert len(server.requests) == 2
    assert at.client.count("tool.execution_start") == 0
    assert at.all(SessionError) == []
    assert len(at.all(TurnRetry)) == 1


async def test_a_call_cut_off_by_the_output_limit_never_runs_and_the_model_hears_of_it(
    tmp_path: Path,
) -> None:
    """B33"""
    at, server = await through_http(tmp_path, [Send([half_a_call("length")]), reply_with("shorter")])
    assert at.client.count("tool.execution_start") == 0
    assert at.all(TurnRetry) == []
    assert [warned.warning_type for warned in at.all(Warned)] == ["output_limit"]
    assert len(server.requests) == 2
    told = server.requests[1]["messages"][-1]
    assert (told["role"], told["content"]) == ("user", OF_A_CALL.format("edit"))


async def test_a_whole_call_before_one_that_the_output_limit_cut_is_run_and_the_model_hears_of_the_other(
    tmp_path: Path,
) -> None:
    """B33"""
    whole: Json = {
        "index": 1,
        "id": "whole",
        "type": "function",
        "function": {"name": "view", "arguments": "{}"},
    }
    both = [
        event({"choices": [{"index": 0, "delta": {"tool_calls": [whole]}, "finish_reason": None}]}),
        half_a_call("length"),
    ]
    _, server = await through_http(tmp_path, [Send(both), reply_with("shorter")])
    roles = [message["role"] for message in server.requests[1]["messages"]][-3:]
    assert roles == ["assistant", "tool", "user"]
    assert server.requests[1]["messages"][-1]["content"] == OF_A_CALL.format("edit")


async def test_a_model_that_spends_its_whole_output_on_thinking_is_told_and_not_for_ever(
    tmp_path: Path,
) -> None:
    nothing = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]})
    at, server = await through_http(tmp_path, [Send([nothing])] * 20)
    assert at.said().count(OF_ALL) == MOST
    assert len(server.requests) == 1 + MOST + EMPTY_REPLIES
    assert at.all(Warned)[-1] == Warned("empty_reply", "The model's reply was empty (length).")
    assert at.client.types[-2] == "session.idle"


async def test_a_short_rate_limit_is_waited_for_and_each_request_is_a_turn(tmp_path: Path) -> None:
    """B35"""
    limited = refuse(429, "slow down", headers={"retry-after": "1"})
    at, server = await through_http(tmp_path, [limited, reply_with("here")])
    assert len(server.requests) == 2
    assert at.all(SessionError) == []
    assert [retry.reason for retry in at.all(TurnRetry)] == ["rate_limit"]


@pytest.mark.parametrize(
    ("status", "kind"), [(400, "query"), (401, "authentication"), (403, "authorization")]
)
async def test_a_refusal_is_one_request_and_one_clear_error(tmp_path: Path, status: int, kind: str) -> None:
    at, server = await through_http(tmp_path, [refuse(status, "this can't be")])
    assert len(server.requests) == 1
    assert [(error.error_type, error.status_code) for error in at.all(SessionError)] == [(kind, status)]
    assert at.client.types[-4:] == ["session.error", "assistant.idle", "session.idle", "session.shutdown"]


async def test_a_server_that_keeps_failing_is_given_up_and_every_request_was_a_turn(
    tmp_path: Path,
) -> None:
    at, server = await through_http(tmp_path, [refuse(500, "out of order", headers={"retry-after": "0"})] * 9)
    assert len(server.requests) == 5
    assert [error.status_code for error in at.all(SessionError)] == [500]


async def test_a_server_that_is_not_there_is_one_clear_error_and_a_turn_that_says_so(
    tmp_path: Path,
) -> None:
    provider = OpenAIChat("http://127.0.0.1:9/v1")
    try:
        async with scene(tmp_path, provider) as at:
            await at.prompt("go")
            assert [error.error_type for error in at.all(SessionError)] == ["connection"]
            assert at.all(TurnEnd) == [TurnEnd("0", request_sent=False)]
            assert at.client.types[-1] == "session.idle"
    finally:
        await provider.aclose()
