"""The end of a run: idle comes last, always and once, and the next prompt works."""

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from tests.cases.local_tool import LocalTool
from tests.cases.scene import Scene, accounted_for, results, scene, turns
from tests.engine.harness import Recorder, app_tools, say
from turnwright.engine.models.endpoint import Fixed
from turnwright.engine.models.endpoints import NOTHING_CONFIGURED, ConfiguredEndpoints, Defaults
from turnwright.engine.runtime import Runtime
from turnwright.errors import ProviderError, RequestFailed
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.session import Idle, SessionError
from turnwright.protocol.messages import Reply
from turnwright.protocol.options import SessionOptions
from turnwright.protocol.wire import Json
from turnwright.providers.base import ModelRequest
from turnwright.providers.open import open_local, open_provider
from turnwright.providers.openai_chat import OpenAIChat
from turnwright.providers.scripted import Scripted, calls, text
from turnwright.providers.transport import Timeouts
from turnwright.store.history import INTERRUPTED
from turnwright.store.jsonl import JsonlStore
from turnwright.store.memory import MemoryStore
from turnwright.testing.chat_answers import call, refuse, stall
from turnwright.testing.chat_server import ChatServer
from turnwright.tools.base import Call, ToolResult
from turnwright.tools.builtin import machine_tools

pytestmark = pytest.mark.anyio


def ends_in_one_idle(scene: Scene) -> None:
    """Assert that the run ended in exactly one idle, the last of all events."""
    assert scene.client.count("session.idle") == 1
    assert scene.client.types[-2:] == ["assistant.idle", "session.idle"]


async def test_a_bug_after_the_loop_is_an_error_and_one_idle_and_the_next_prompt_works(
    tmp_path: Path,
) -> None:
    """B01"""
    client = Recorder()
    faults = [RuntimeError("a bug in the step after the loop")]

    def invoke(params: object) -> object:
        if "sessionEnd" in str(params) and faults:
            raise faults.pop()
        return {}

    client.handlers["hooks.invoke"] = invoke
    async with scene(tmp_path, [text("4"), text("5")], client=client, hooks=True) as at:
        await at.prompt("2+2?")
        assert at.all(SessionError) == [SessionError("internal", "Internal error")]
        ends_in_one_idle(at)
        await at.prompt("2+3?")
        assert at.client.count("session.error") == 1


async def test_a_hook_that_fails_after_the_loop_changes_nothing(tmp_path: Path) -> None:
    """B01"""
    client = Recorder()

    def invoke(params: object) -> object:
        raise RequestFailed(-32603, "the handler raised")

    client.handlers["hooks.invoke"] = invoke
    async with scene(tmp_path, [text("4")], client=client, hooks=True) as at:
        await at.prompt("2+2?")
        assert at.all(SessionError) == []
        ends_in_one_idle(at)


async def test_a_model_that_falls_silent_after_tool_rounds_ends_in_an_error_and_idle(
    tmp_path: Path,
) -> None:
    """B04"""

    async def echo(call: Call) -> ToolResult:
        return ToolResult("x" * 5000)

    script = [*[call("echo")] * 5, stall(), refuse(401, "expired")]
    async with ChatServer(script) as server:
        provider = OpenAIChat(server.base_url, timeouts=Timeouts(read=0.3))
        try:
            async with scene(tmp_path, provider, machine=[LocalTool("echo", echo)], streaming=True) as at:
                await at.prompt("go")
                events = at.session.journal.events()
                assert turns(events) == len(server.requests) == 7
                assert [error.error_type for error in at.all(SessionError)] == ["authentication"]
                ends_in_one_idle(at)
        finally:
            await provider.aclose()


async def test_a_client_can_abort_a_model_that_is_silent(tmp_path: Path) -> None:
    """B04"""

    async def for_ever(request: ModelRequest) -> Reply:
        await anyio.sleep_forever()
        raise AssertionError("unreachable")

    async with scene(tmp_path, [for_ever, text("here again")]) as at:
        say(at.session, "go")
        await at.client.until("model.call_start")
        at.session.abort()
        await at.client.until("session.idle")
        ends_in_one_idle(at)
        assert at.all(Idle) == [Idle(aborted=True)]
        await at.prompt("and now?")


async def test_a_tool_that_fails_is_told_to_the_model_and_the_run_goes_on(tmp_path: Path) -> None:
    """B07"""
    client = Recorder()
    hooks: list[str] = []

    def invoke(params: Json) -> None:
        hooks.append(params["hookType"])

    client.handlers["hooks.invoke"] = invoke
    script = [calls(("a", "view", '{"path": "nope.txt"}')), text("not there")]
    async with scene(tmp_path, script, machine=machine_tools(), client=client, hooks=True) as at:
        await at.prompt("look")
        assert "postToolUseFailure" in hooks
        assert turns(at.client.events) == 2
        assert at.client.count("session.shutdown") == 0
        assert "does not exist" in results(at.model.requests[1])["a"]
        ends_in_one_idle(at)


async def test_a_session_resumed_from_its_log_runs_the_next_prompt_and_replays_nothing_ephemeral(
    tmp_path: Path,
) -> None:
    """B08"""
    store = JsonlStore(tmp_path / "state")
    async with scene(tmp_path, [text("first")], store=store) as at:
        await at.prompt("one")
        session_id = at.session.id
    client, model = Recorder(), Scripted([text("second")])
    async with Runtime(store, Fixed(model, "scripted"), home=tmp_path, environment={}) as runtime:
        session = await runtime.resume(session_id, SessionOptions(), client)
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        assert client.types == ["session.custom_agents_updated", "session.resume"]
        say(session, "two")
        await client.until("session.idle")
    milestones = ["user.message", "assistant.turn_start", "assistant.message", "assistant.turn_end"]
    wanted = [*milestones, "session.idle"]
    assert [type for type in client.types if type in wanted] == wanted


async def test_a_bug_in_a_provider_is_an_internal_error_and_idle_and_the_next_prompt_works(
    tmp_path: Path,
) -> None:
    async def broken(request: ModelRequest) -> Reply:
        raise RuntimeError("a bug, with /secret/path in its text")

    async with scene(tmp_path, [broken, text("fine")]) as at:
        await at.prompt("one")
        assert at.all(SessionError) == [SessionError("internal", "Internal error")]
        assert at.client.types[-3:] == ["session.error", "assistant.idle", "session.idle"]
        await at.prompt("two")
        assert at.client.count("session.error") == 1


async def test_a_refused_request_is_an_error_beside_its_idle(tmp_path: Path) -> None:
    refused = ProviderError("the model is unknown", kind="query", status=404)
    async with scene(tmp_path, [refused, text("fine")]) as at:
        await at.prompt("one")
        assert at.all(SessionError) == [SessionError("query", "the model is unknown", 404)]
        assert at.client.types[-3:] == ["session.error", "assistant.idle", "session.idle"]
        await at.prompt("two")


async def test_idle_is_said_once_for_each_time_the_queue_drains(tmp_path: Path) -> None:
    async with scene(tmp_path, [text("1"), text("2"), text("3")]) as at:
        for prompt in ("a", "b", "c"):
            say(at.session, prompt)
        await at.client.until("session.idle")
        ends_in_one_idle(at)
        assert at.said() == ["a", "b", "c"]


async def test_an_abort_before_the_request_goes_out_opens_no_turn(tmp_path: Path) -> None:
    client = Recorder()
    async with scene(tmp_path, [text("never")], client=client) as at:

        def abort_at_the_message(event: Event) -> None:
            if event.type == "user.message":
                at.session.abort()

        client.on_event = abort_at_the_message
        await at.prompt("go")
        assert at.model.requests == []
        assert at.client.count("assistant.turn_start") == 0
        assert at.all(Idle) == [Idle(aborted=True)]
        ends_in_one_idle(at)


async def test_without_an_endpoint_the_error_says_how_to_set_one(tmp_path: Path) -> None:
    endpoints = ConfiguredEndpoints(Defaults(), open_provider, open_local)
    client = Recorder()
    store = MemoryStore(tmp_path)
    async with Runtime(store, endpoints, home=tmp_path, environment={}) as runtime:
        session = await runtime.create(SessionOptions(working_directory=str(tmp_path)), client)
        say(session, "hello?")
        await client.until("session.idle")
    errors = [event.data for event in client.events if isinstance(event.data, SessionError)]
    assert errors == [SessionError("query", NOTHING_CONFIGURED)]
    assert client.count("assistant.turn_start") == 0


async def test_an_abort_of_work_that_was_pending_answers_it_and_ends_its_turn_before_idle(
    tmp_path: Path,
) -> None:
    store = JsonlStore(tmp_path / "state")
    create = SessionOptions(working_directory=str(tmp_path), tools=app_tools("ext"))
    model = Scripted([calls(("a", "ext", "{}"), ("b", "ext", "{}")), text("going on")])
    async with Runtime(store, Fixed(model, "scripted"), home=tmp_path, environment={}) as runtime:
        client = Recorder()
        session = await runtime.create(create, client)
        say(session, "begin")
        await client.until("external_tool.requested", 2)
    async with Runtime(store, Fixed(model, "scripted"), home=tmp_path, environment={}) as runtime:
        client = Recorder()
        resume = SessionOptions(tools=app_tools("ext"), continue_pending_work=True)
        session = await runtime.resume(session.id, resume, client)
        await client.until("session.tools_updated")
        session.abort()
        await client.until("session.idle")
        accounted_for(session.journal.events())
        assert client.count("tool.execution_complete") == 2
        say(session, "go on")
        await client.until("session.idle", 2)
        assert results(model.requests[1]) == {"a": INTERRUPTED, "b": INTERRUPTED}
        accounted_for(session.journal.events())
    assert model.problems == []
