"""What a client is told: its handlers in order and apart from each other, an abort as an abort."""

from functools import partial
from pathlib import Path

import anyio
import pytest

from tests.cases.scene import scene
from tests.cases.wired import serving
from tests.engine.harness import app_tools, say
from turnwright import Client, Event, SessionFailed, tool
from turnwright.protocol.events.conversation import MessageDelta
from turnwright.protocol.events.session import AssistantIdle, Idle
from turnwright.protocol.events.tools import ToolComplete
from turnwright.protocol.messages import Reply
from turnwright.providers.base import ModelInfo, ModelRequest, Progress
from turnwright.providers.scripted import Scripted, calls, text
from turnwright.providers.transport import DIRECT, Route

pytestmark = pytest.mark.anyio


@tool(skip_permission=True)
def ok() -> str:
    """Say ok."""
    return "ok"


async def test_handlers_run_in_order_apart_from_each_other_and_may_call_the_runtime(tmp_path: Path) -> None:
    """B89"""
    model = Scripted([calls(("a", "ok", "{}")), text("fine")])
    seen: list[str] = []
    inside = 0

    async def asks(event: Event) -> None:
        nonlocal inside
        inside += 1
        assert inside == 1
        if event.type == "tool.execution_start":
            assert await session.get_events()
        seen.append(event.type)
        inside -= 1

    def raises(event: Event) -> None:
        raise RuntimeError("a bug in the app")

    async with Client(provider=model, home=tmp_path / "home") as client:
        session = await client.create_session(working_directory=tmp_path, tools=[ok], streaming=True)
        session.on("*", raises)
        session.on("*", asks)
        reply = await session.send_and_wait("go", timeout=10)
        assert reply.data.content == "fine"
        logged = [event.type for event in await session.get_events()]
    assert [type for type in seen if type in logged][: len(logged) - 1] == logged[1:]
    assert seen.count("session.idle") == 1


async def test_a_tool_of_the_app_that_was_interrupted_is_answered_before_its_turn_ends_before_idle(
    tmp_path: Path,
) -> None:
    """B92"""
    async with scene(tmp_path, [calls(("a", "ext", "{}"))], tools=app_tools("ext")) as at:
        say(at.session, "go")
        await at.client.until("external_tool.requested")
        at.session.abort()
        await at.client.until("session.idle")
        assert at.client.types[at.client.types.index("tool.execution_start") :] == [
            "tool.execution_start",
            "external_tool.requested",
            "abort",
            "external_tool.completed",
            "tool.execution_complete",
            "assistant.turn_end",
            "session.info",
            "assistant.idle",
            "session.idle",
        ]
        assert [done.success for done in at.all(ToolComplete)] == [False]


class EndlessStream:
    """A model that streams for ever."""

    async def respond(self, request: ModelRequest, progress: Progress) -> Reply:
        await progress.ready()
        progress.sent()
        while True:
            progress.text("and on ")
            await anyio.sleep(0.001)

    async def models(self, route: Route = DIRECT) -> list[ModelInfo]:
        return []

    async def aclose(self) -> None:
        pass


async def test_a_run_that_was_cancelled_while_it_streamed_says_so(tmp_path: Path) -> None:
    """B93"""
    async with scene(tmp_path, EndlessStream(), streaming=True) as at:
        say(at.session, "go")
        await at.client.until(MessageDelta.event_type, 3)
        at.session.abort()
        await at.client.until("session.idle")
        assert at.all(Idle) == [Idle(aborted=True)]
        assert at.all(AssistantIdle) == [AssistantIdle(aborted=True)]
        assert at.client.count("assistant.message") == 0
        assert at.client.count("session.error") == 0


async def test_an_app_that_waits_for_a_run_that_is_aborted_hears_of_it(tmp_path: Path) -> None:
    """B93"""
    async with Client(provider=EndlessStream(), model="endless", home=tmp_path / "home") as client:
        session = await client.create_session(working_directory=tmp_path, streaming=True)

        async def abort(event: Event) -> None:
            await session.abort()

        session.on("assistant.message_delta", abort)
        with pytest.raises(SessionFailed):
            await session.send_and_wait("go", timeout=10)


async def test_a_session_that_is_destroyed_again_and_resumed_meanwhile_ends_once_and_comes_back(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, [text("here")]) as server:
        client, other = server.connect(), server.connect()
        await client.call("session.create", sessionId="it", workingDirectory=str(tmp_path))
        async with anyio.create_task_group() as group:
            for one in (client, other, client):
                group.start_soon(partial(one.call, "session.destroy", sessionId="it"))
            for one in (client, other):
                group.start_soon(partial(one.call, "session.resume", sessionId="it"))
        await other.call("session.send", sessionId="it", prompt="go")
        await client.until("session.idle")
        logged = [event.type for event in server.logged("it")]
    assert logged.count("session.shutdown") == 1
    assert logged[-1] == "assistant.turn_end"
