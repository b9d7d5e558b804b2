"""A fork is a log of its own that begins as another's."""

from pathlib import Path

import pytest

from tests.cases.wired import serving
from tests.server.sessions import prompted, started
from turnwright.errors import RequestFailed
from turnwright.protocol import wire
from turnwright.protocol.events.conversation import UserMessage
from turnwright.protocol.events.session import SessionStart, TitleChanged
from turnwright.protocol.messages import User
from turnwright.providers.scripted import text

pytestmark = pytest.mark.anyio


async def test_a_fork_keeps_the_events_under_their_ids_and_goes_on_by_itself(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("one"), text("two")]) as server:
        client = server.connect()
        source = await started(client, tmp_path)
        await prompted(client, source, "count")
        forked = await client.call("sessions.fork", sessionId=source)
        assert forked == {"sessionId": forked["sessionId"], "name": "count (fork)"}
        fork = forked["sessionId"]
        before = server.logged(source)
        copied = server.logged(fork)
        assert [event.id for event in copied[: len(before)]] == [event.id for event in before]
        assert [event.data for event in copied[len(before) :]] == [TitleChanged("count (fork)")]
        start = copied[0].data
        assert isinstance(start, SessionStart)
        assert start.session_id == fork
        await client.call("session.resume", sessionId=fork)
        await prompted(client, fork, "go on")
        assert len(server.logged(source)) == len(before)
        said = [m.content for m in server.model.requests[1].messages if isinstance(m, User)]
        assert [part.rpartition("\n")[2] for part in said] == ["count", "go on"]


async def test_a_fork_may_end_before_an_event_and_have_a_name(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("one"), text("two")]) as server:
        client = server.connect()
        source = await started(client, tmp_path)
        await prompted(client, source, "first")
        await prompted(client, source, "second")
        boundary = next(
            event.id
            for event in server.logged(source)
            if isinstance(event.data, UserMessage) and event.data.content == "second"
        )
        forked = await client.call("sessions.fork", sessionId=source, toEventId=boundary, name="a try")
        assert forked["name"] == "a try"
        said = [e.data.content for e in server.logged(forked["sessionId"]) if isinstance(e.data, UserMessage)]
        assert said == ["first"]
        listed = (await client.call("session.list"))["sessions"]
        assert {entry["sessionId"]: entry["name"] for entry in listed} == {
            source: "first",
            forked["sessionId"]: "a try",
        }


async def test_a_fork_takes_the_sessions_own_files_along(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        source = await started(client, tmp_path)
        await client.call("session.plan.update", sessionId=source, content="# Steps")
        await client.call("session.workspaces.createFile", sessionId=source, path="a/b.txt", content="kept")
        fork = (await client.call("sessions.fork", sessionId=source))["sessionId"]
        await client.call("session.resume", sessionId=fork)
        plan = await client.call("session.plan.read", sessionId=fork)
        file = await client.call("session.workspaces.readFile", sessionId=fork, path="a/b.txt")
        assert (plan["content"], file) == ("# Steps", {"content": "kept"})


async def test_a_fork_at_an_event_that_is_not_there_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        source = await started(client, tmp_path)
        missing = wire.new_id()
        with pytest.raises(RequestFailed, match=f"Event {missing} not found in session {source}"):
            await client.call("sessions.fork", sessionId=source, toEventId=missing)
        first = server.logged(source)[0].id
        with pytest.raises(RequestFailed, match="toEventId: nothing is before that event"):
            await client.call("sessions.fork", sessionId=source, toEventId=first)
        assert [folder.name for folder in (server.home / "session-state").iterdir()] == [source]
