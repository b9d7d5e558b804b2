"""The history that the model sees: each call has one result, in place, whatever went wrong."""

from pathlib import Path

import anyio
import pytest

from tests.cases.local_tool import LocalTool
from tests.cases.scene import results, scene, turns, words
from tests.engine.harness import Recorder, app_tools, options, running, say
from turnwright.engine.permissions.permissions import Decision
from turnwright.engine.tool_calls.external_tool import Answer
from turnwright.errors import RequestFailed
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.questions import ExternalToolRequested, PermissionRequested
from turnwright.protocol.events.session import Idle
from turnwright.protocol.messages import ToolOutput
from turnwright.protocol.options import ToolSpec
from turnwright.protocol.wire import Json
from turnwright.providers.openai_chat import OpenAIChat
from turnwright.providers.scripted import Scripted, calls, text
from turnwright.store.history import INTERRUPTED
from turnwright.store.jsonl import JsonlStore
from turnwright.testing.chat_answers import say as reply_with
from turnwright.testing.chat_answers import send_events
from turnwright.testing.chat_server import ChatServer
from turnwright.tools.base import Call, ToolResult

pytestmark = pytest.mark.anyio

THREE = calls(("a", "ok", "{}"), ("b", "breaks", "{}"), ("c", "ok", "{}"))


async def breaks(call: Call) -> ToolResult:
    raise ValueError("a bug in the tool")


def tools() -> list[LocalTool]:
    return [LocalTool("ok"), LocalTool("breaks", breaks)]


@pytest.mark.parametrize(
    ("fault", "told_of_b"),
    [
        (RequestFailed(-32603, "the hook raised"), "ok"),
        (RuntimeError("a bug of ours"), "Tool 'ok' failed with an internal error."),
    ],
)
async def test_a_post_hook_that_fails_for_one_call_costs_no_other_its_result(
    tmp_path: Path, fault: Exception, told_of_b: str
) -> None:
    """B19"""
    client = Recorder()

    def invoke(params: Json) -> Json:
        if params["hookType"] == "postToolUse" and params["input"]["toolArgs"] == '{"n":"b"}':
            raise fault
        return {}

    client.handlers["hooks.invoke"] = invoke
    script = [calls(*((n, "ok", f'{{"n": "{n}"}}') for n in "abc")), text("fine")]
    async with scene(tmp_path, script, machine=tools(), client=client, hooks=True) as at:
        await at.prompt("three")
        assert at.client.count("tool.execution_complete") == 3
        told = results(at.model.requests[1])
        assert list(told.items()) == [("a", "ok"), ("b", told_of_b), ("c", "ok")]
        assert at.client.types[-1] == "session.idle"


async def test_a_failing_call_leaves_its_siblings_results_alone_and_in_order(tmp_path: Path) -> None:
    """B20"""
    async with scene(tmp_path, [THREE, text("fine")], machine=tools()) as at:
        await at.prompt("three")
        told = results(at.model.requests[1])
        assert list(told) == ["a", "b", "c"]
        assert (told["a"], told["c"]) == ("ok", "ok")
        assert told["b"] == "Tool 'breaks' failed with an internal error."
        assert {call: done.success for call, done in at.completions().items()} == {
            "a": True,
            "b": False,
            "c": True,
        }


@pytest.mark.parametrize("missing", [None, ""])
async def test_calls_without_an_id_get_ids_of_their_own(tmp_path: Path, missing: str | None) -> None:
    """B25"""
    wanted: list[Json] = [
        {"index": n, "id": missing, "type": "function", "function": {"name": "ok", "arguments": "{}"}}
        for n in range(2)
    ]
    chunk: Json = {"choices": [{"index": 0, "delta": {"tool_calls": wanted}, "finish_reason": "tool_calls"}]}
    async with ChatServer([send_events(chunk), reply_with("fine")]) as server:
        provider = OpenAIChat(server.base_url)
        try:
            async with scene(tmp_path, provider, machine=tools(), streaming=True) as at:
                await at.prompt("two")
                assert len(at.completions()) == 2
                assert all(at.completions())
                assert turns(at.client.events) == len(server.requests) == 2
                assert server.violations == []
                answered = [m["tool_call_id"] for m in server.requests[1]["messages"] if m["role"] == "tool"]
                assert answered == list(at.completions())
        finally:
            await provider.aclose()


async def test_after_an_abort_of_the_only_running_tool_a_new_prompt_works(tmp_path: Path) -> None:
    """B27"""
    script = [calls(("a", "ext", "{}")), text("going on")]
    async with scene(tmp_path, script, tools=app_tools("ext")) as at:
        say(at.session, "begin")
        await at.client.until("external_tool.requested")
        at.session.abort()
        await at.client.until("session.idle")
        assert at.all(Idle) == [Idle(aborted=True)]
        await at.prompt("go on")
        request = at.model.requests[1]
        assert request.messages[2] == ToolOutput("a", INTERRUPTED)
        assert words(request) == ["begin", "go on"]


async def test_a_user_who_rejects_a_call_ends_the_run(tmp_path: Path) -> None:
    script = [calls(("a", "asks", "{}"), ("b", "ok", "{}")), text("I see")]
    asks = [ToolSpec("asks", "asks first")]
    async with scene(tmp_path, script, machine=tools(), tools=asks, request_permission=True) as at:

        def reject(event: Event) -> None:
            if isinstance(event.data, PermissionRequested):
                at.session.questions.answer(event.data.request_id, Decision("reject"))

        at.client.on_event = reject
        await at.prompt("go")
        assert len(at.model.requests) == 1
        rejected = at.completions()["a"].error
        assert rejected is not None
        assert (rejected.message, rejected.code) == ("The user rejected this tool call.", "rejected")
        assert at.completions()["b"].success
        await at.prompt("why not")
        assert list(results(at.model.requests[1])) == ["a", "b"]


async def test_a_result_of_type_rejected_ends_the_run(tmp_path: Path) -> None:
    async def refuse(call: Call) -> ToolResult:
        return ToolResult("no", kind="rejected", error="no", error_code="rejected")

    script = [calls(("a", "refuses", "{}")), text("never asked for")]
    async with scene(tmp_path, script, machine=[LocalTool("refuses", refuse)]) as at:
        await at.prompt("go")
        assert len(at.model.requests) == 1
        assert at.client.types[-1] == "session.idle"


@pytest.mark.parametrize("succeeds", [True, False])
async def test_a_terminal_tool_ends_the_run_only_when_it_succeeds(tmp_path: Path, succeeds: bool) -> None:
    async def finish(call: Call) -> ToolResult:
        return ToolResult("done") if succeeds else ToolResult("not yet", kind="failure", error="not yet")

    script = [calls(("a", "finish", "{}"), ("b", "ok", "{}")), text("I try again")]
    machine = [LocalTool("finish", finish, terminal=True), LocalTool("ok")]
    async with scene(tmp_path, script, machine=machine) as at:
        await at.prompt("go")
        assert len(at.model.requests) == (1 if succeeds else 2)
        assert at.completions()["b"].success


@pytest.mark.parametrize("succeeds", [True, False])
async def test_a_terminal_tool_of_the_app_ends_the_run_only_when_it_succeeds(
    tmp_path: Path, succeeds: bool
) -> None:
    result = "done" if succeeds else {"textResultForLlm": "not yet", "resultType": "failure"}
    tools = [ToolSpec("finish", skip_permission=True, is_terminal=True), *app_tools("ok")]
    script = [calls(("a", "finish", "{}"), ("b", "ok", "{}")), text("I try again")]
    async with scene(tmp_path, script, tools=tools) as at:

        def answer(event: Event) -> None:
            match event.data:
                case ExternalToolRequested(request_id=request_id, tool_name=name):
                    at.session.questions.answer(request_id, Answer(result if name == "finish" else "ok"))
                case _:
                    pass

        at.client.on_event = answer
        await at.prompt("go")
        assert len(at.model.requests) == (1 if succeeds else 2)
        assert at.completions()["b"].success
        assert at.client.types[-1] == "session.idle"


async def test_a_terminal_tool_that_is_answered_after_a_resume_ends_the_run(tmp_path: Path) -> None:
    tools = [ToolSpec("finish", skip_permission=True, is_terminal=True)]
    given = options(tmp_path, session_id="it", tools=tools, continue_pending_work=True)
    model, client = Scripted([calls(("a", "finish", "{}")), text("the next prompt's")]), Recorder()
    async with running(model, tmp_path) as runtime:
        session = await runtime.create(given, client)
        say(session, "go")
        await client.until("external_tool.requested")
        await runtime.unload("it")
        session = await runtime.resume("it", given, client)
        (question,) = session.journal.state.questions
        session.questions.answer(question, Answer("done"))
        await client.until("session.idle")
        assert len(model.requests) == 1
        say(session, "and now")
        await client.until("session.idle", 2)
        assert len(model.requests) == 2


async def test_results_of_any_size_are_the_same_bytes_after_a_resume(tmp_path: Path) -> None:
    """B23"""
    sizes = [1, 2, 3, 7, 64, 999, 1000, 4095, 4096, 4097, 8191, 16_384, 32_768, 65_535, 65_536]
    awkward = ["\n", "\r\n\n", "\u2028\u2029\x00\x7f", "👩‍👩‍👧‍👦🏳️‍🌈", '{"type":"assistant.turn_start"}\n']
    texts = [
        (("line é 🙂\r\n\\" * 8192)[:size]).encode()[:size].decode(errors="ignore") or "x" for size in sizes
    ]
    outputs = {f"c{number}": output for number, output in enumerate((*texts, *awkward))}
    assert (len(outputs), max(len(output.encode()) for output in outputs.values())) == (20, 65_536)

    async def give(call: Call) -> ToolResult:
        return ToolResult(outputs[call.id])

    ids = list(outputs)
    script = [calls(*((id, "gives", "{}") for id in part)) for part in (ids[:1], ids[1:8], ids[8:])]
    first, second = Scripted([*script, text("done")]), Scripted([text("still there")])
    client = Recorder()
    with anyio.fail_after(30):
        async with running(
            first, tmp_path, JsonlStore(tmp_path / "s"), tools=[LocalTool("gives", give)]
        ) as at:
            say(await at.create(options(tmp_path, session_id="s"), client), "go")
            await client.until("session.idle")
        async with running(second, tmp_path, JsonlStore(tmp_path / "s")) as at:
            say(await at.resume("s", options(tmp_path), client), "what was it?")
            await client.until("session.idle", 2)
    before, after = first.requests[-1].messages, second.requests[0].messages
    assert results(second.requests[0]) == outputs
    assert wire.encode(after[: len(before)]) == wire.encode(before)
    assert first.problems == second.problems == []
