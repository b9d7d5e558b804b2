"""Event handlers: in order, apart from the reader, and each for itself."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.client.runtimes import in_process
from turnwright import approve_all, tool
from turnwright.client.events import EventOf
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.conversation import AssistantMessage, MessageDelta
from turnwright.protocol.events.tools import ToolStart
from turnwright.providers.scripted import Scripted, calls, text

pytestmark = pytest.mark.anyio


@tool(skip_permission=True)
def ok() -> str:
    """Say ok."""
    return "ok"


async def test_a_handler_may_call_the_runtime_and_one_that_raises_stops_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """B89."""
    model = Scripted([calls(("a", "ok", "{}")), text("done")])
    seen: list[str] = []

    async def calls_back(event: EventOf[ToolStart]) -> None:
        seen.append(f"{event.data.tool_name} after {len(await session.get_events())} events")

    def raises(event: Event) -> None:
        raise ValueError(f"no {event.type}")

    async with in_process(model, tmp_path) as client, await client.create_session(tools=[ok]) as session:
        session.on(ToolStart, calls_back)
        session.on("tool.execution_start", raises)
        session.on("tool.execution_start", lambda event: seen.append(event.data.tool_name))
        reply = await session.send_and_wait("go")
        logged = [event.type for event in await session.get_events()]
    assert reply.data.content == "done"
    assert seen[1:] == ["ok"]
    assert seen[0].startswith("ok after ")
    assert logged.count("tool.execution_start") == 1
    assert [record.message for record in caplog.records if record.levelno >= logging.ERROR] == [
        "a handler of tool.execution_start failed"
    ]


async def test_events_come_in_order_however_long_a_handler_takes(tmp_path: Path) -> None:
    model = Scripted([text("one two three")])
    begun: list[str] = []
    ended: list[str] = []

    async def slow(event: EventOf[Any]) -> None:
        begun.append(event.id)
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        ended.append(event.id)
        assert begun == ended

    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(streaming=True) as session,
    ):
        session.on("*", slow)
        await session.send_and_wait("go")
        logged = [event.id for event in await session.get_events()]
    assert [id for id in ended if id in logged] == logged[1:]


async def test_handlers_have_seen_the_reply_when_a_wait_for_it_ends(tmp_path: Path) -> None:
    model = Scripted([text("one two three")])
    pieces: list[str] = []
    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(streaming=True) as session,
    ):
        session.on(MessageDelta, lambda event: pieces.append(event.data.delta_content))
        session.on("session.idle", lambda event: pieces.append(event.type))
        await session.send_and_wait("go")
        assert pieces == ["one t", "wo th", "ree", "session.idle"]


async def test_a_handler_may_send_and_wait(tmp_path: Path) -> None:
    """B89: it is not waited for by itself."""
    model = Scripted([text("first"), text("second")])
    replies: list[str] = []
    answered = anyio.Event()

    async def asks_again(event: EventOf[AssistantMessage]) -> None:
        unsubscribe()
        replies.append((await session.send_and_wait("and then?")).data.content)
        answered.set()

    async with in_process(model, tmp_path) as client, await client.create_session() as session:
        unsubscribe = session.on(AssistantMessage, asks_again)
        replies.append((await session.send_and_wait("go")).data.content)
        await answered.wait()
    assert sorted(replies) == ["first", "second"]


async def test_a_handler_that_was_taken_off_hears_no_more(tmp_path: Path) -> None:
    model = Scripted([text("first"), text("second")])
    heard: list[str] = []
    async with in_process(model, tmp_path) as client, await client.create_session() as session:
        unsubscribe = session.on(AssistantMessage, lambda event: heard.append(event.data.content))
        await session.send_and_wait("go")
        unsubscribe()
        unsubscribe()
        await session.send_and_wait("go on")
    assert heard == ["first"]


async def test_on_event_hears_of_every_event_from_the_first_to_the_last(tmp_path: Path) -> None:
    heard: list[str] = []
    listen: Callable[[Event], None] = lambda event: heard.append(event.type)  # noqa: E731
    async with (
        in_process(Scripted([text("hi")]), tmp_path) as client,
        await client.create_session(on_event=listen, on_permission=approve_all) as session,
    ):
        await session.send_and_wait("go")
    assert heard[0] == "session.start"
    assert heard[-2:] == ["session.idle", "session.shutdown"]
