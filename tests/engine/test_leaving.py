"""A session that leaves, or has nothing to do any more: no message is lost, and others may write its log."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from tests.cases.local_tool import LocalTool
from tests.engine.harness import HeldDisk, Recorder, options, running, say
from tests.simulation.clock import Clock, Threads, VirtualLoop, run, simulated
from tests.simulation.disk import QUICK
from turnwright.engine.journal.off_loop import Done, Work, outcome
from turnwright.engine.lifecycle.suspend import suspend
from turnwright.engine.runtime import Runtime
from turnwright.engine.session import Session
from turnwright.errors import SessionNotFound, StoreError
from turnwright.protocol.envelope import Event, parse
from turnwright.protocol.events.conversation import UserMessage
from turnwright.protocol.messages import Assistant, ToolOutput, User
from turnwright.protocol.options import Durability, ToolSpec
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import Reply, Scripted, calls, text
from turnwright.store.audit import audit
from turnwright.store.jsonl import LOG_NAME, JsonlStore
from turnwright.tools.base import Call, ToolResult

SYNC_SECONDS = 20.0
"""Longer than a runtime waits for its sessions to end."""


def said(events: list[Event]) -> list[str]:
    """The user's messages."""
    return [event.data.content for event in events if isinstance(event.data, UserMessage)]


def logged(home: Path) -> list[Event]:
    """The session's log, which has to be sound."""
    lines = (home / "session-state" / "s" / LOG_NAME).read_bytes().splitlines(keepends=True)
    assert audit(lines).findings == []
    return [parse(line) for line in lines]


@pytest.mark.anyio
async def test_messages_that_wait_when_a_session_is_unloaded_are_in_its_log(tmp_path: Path) -> None:
    asked = anyio.Event()

    async def never(request: ModelRequest) -> Reply:
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    store = JsonlStore(tmp_path / "session-state")
    async with running(Scripted([never]), tmp_path, store) as runtime:
        session = await runtime.create(options(tmp_path, session_id="s"), Recorder())
        say(session, "first")
        with anyio.fail_after(5):
            await asked.wait()
        say(session, "queued")
        say(session, "steering", immediate=True)
        async with anyio.create_task_group() as group:
            group.start_soon(runtime.unload, "s")
            await anyio.lowlevel.checkpoint()
            say(session, "while it leaves")
    assert said(logged(tmp_path)) == ["first", "steering", "queued", "while it leaves"]


@pytest.mark.anyio
async def test_a_call_that_waits_for_a_client_is_answered_before_a_message_that_waits_behind_it(
    tmp_path: Path,
) -> None:
    model = Scripted([calls(("c", "asks", "{}")), text("done")])
    client = Recorder()
    async with running(model, tmp_path) as runtime:
        tool = ToolSpec("asks", "asks first")
        session = await runtime.create(
            options(tmp_path, session_id="s", tools=[tool], request_permission=True), client
        )
        say(session, "first")
        await client.until("permission.requested")
        say(session, "second")
        await runtime.unload("s")
        session = await runtime.resume("s", options(tmp_path, continue_pending_work=True), client)
        say(session, "third")
        await client.until("session.idle")
        roles = [type(message) for message in model.requests[-1].messages]
    assert roles == [User, Assistant, ToolOutput, User, User]
    assert model.problems == []


@pytest.mark.anyio
async def test_a_message_taken_back_before_its_run_begins_ends_in_an_idle_and_lets_others_write(
    tmp_path: Path,
) -> None:
    client, other = Recorder(), Recorder()
    async with running(Scripted(), tmp_path, JsonlStore(tmp_path / "session-state")) as runtime:
        session = await runtime.create(options(tmp_path, session_id="s"), client)
        say(session, "never mind")
        assert session.inbox.remove_last()
        await client.until("session.idle")
        async with running(
            Scripted([text("ok")]), tmp_path, JsonlStore(tmp_path / "session-state")
        ) as second:
            taken = await second.resume("s", options(tmp_path), other)
            say(taken, "go on")
            await other.until("session.idle")
    assert said(logged(tmp_path)) == ["go on"]


@pytest.mark.anyio
async def test_a_session_suspended_before_its_run_begins_is_idle_and_others_may_write(
    tmp_path: Path,
) -> None:
    client = Recorder()
    store = JsonlStore(tmp_path / "session-state")
    async with running(Scripted([text("a"), text("b")]), tmp_path, store) as runtime:
        session = await runtime.create(options(tmp_path, session_id="s"), client)
        say(session, "first")
        await suspend(session)
        await client.until("session.idle")
        log = store.open("s")
        log.hold()
        log.close()
        say(session, "second")
        await client.until("session.idle", 2)
    messages = [event.data for event in logged(tmp_path) if isinstance(event.data, UserMessage)]
    assert [(m.content, m.delivery) for m in messages] == [("first", "idle"), ("second", "queued")]


def times_open(path: Path) -> int:
    """How many descriptors of this process stand for a file."""
    opened = 0
    for fd in range(1024):
        with suppress(OSError):
            opened += os.path.samestat(os.fstat(fd), path.stat())
    return opened


@pytest.mark.anyio
async def test_a_client_that_goes_while_its_session_is_suspended_leaves_no_file_open(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "session-state")
    async with running(Scripted([]), tmp_path, store) as runtime:
        session = await runtime.create(options(tmp_path, session_id="s"), Recorder())
        with anyio.CancelScope() as scope:
            scope.cancel()
            await suspend(session)
    assert times_open(store.folder("s") / LOG_NAME) == 0


@asynccontextmanager
async def in_a_turn(
    tmp_path: Path, durability: Durability
) -> AsyncGenerator[tuple[Runtime, Session, Recorder, HeldDisk]]:
    """A session that waits for its model, on a disk that answers when the test says so."""

    asked = anyio.Event()

    async def never(request: ModelRequest) -> Reply:
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    disk, client, store = HeldDisk(is_held=False), Recorder(), JsonlStore(tmp_path / "session-state")
    model = Scripted([never, text("here")])
    with anyio.fail_after(20):
        async with running(model, tmp_path, store, off_loop=disk.begin, durability=durability) as runtime:
            session = await runtime.create(options(tmp_path, session_id="s"), client)
            say(session, "go")
            await asked.wait()
            disk.is_held = True
            try:
                yield runtime, session, client, disk
            finally:
                await disk.release()


@pytest.mark.anyio
async def test_a_session_ends_though_whoever_asked_for_it_is_gone_while_the_disk_syncs(
    tmp_path: Path,
) -> None:
    async with in_a_turn(tmp_path, "turn") as (runtime, _, client, disk):
        async with anyio.create_task_group() as asking:
            asking.start_soon(runtime.unload, "s")
            await anyio.wait_all_tasks_blocked()
            asking.cancel_scope.cancel()
        await disk.release()
        with pytest.raises(SessionNotFound):
            runtime.find("s")
        assert client.types[-2:] == ["assistant.turn_end", "session.shutdown"]
        again = await runtime.resume("s", options(tmp_path), client)
        say(again, "on")
        await client.until("session.idle")


@pytest.mark.anyio
@pytest.mark.parametrize("then", ["resume", "delete"])
async def test_whoever_wants_a_session_that_leaves_waits_until_it_has_left(tmp_path: Path, then: str) -> None:
    async def want() -> None:
        if then == "resume":
            await runtime.resume("s", options(tmp_path), client)
        else:
            await runtime.delete("s")

    async with in_a_turn(tmp_path, "event") as (runtime, session, client, disk):
        async with anyio.create_task_group() as asking:
            asking.start_soon(runtime.unload, "s")
            await anyio.wait_all_tasks_blocked()
            while "s" in runtime.sessions:
                await disk.end()
            assert session.journal.events()[-1].type == "session.shutdown"
            assert "session.shutdown" not in client.types
            asking.start_soon(want)
            await anyio.wait_all_tasks_blocked()
            await disk.release()
        after = client.persisted[-1].type
        assert (after, "s" in runtime.sessions) == (
            ("session.resume", True) if then == "resume" else ("session.shutdown", False)
        )


def stalled(work: Work, done: Done) -> None:
    """What a disk that hardly answers makes of a sync."""
    asyncio.get_running_loop().call_later(SYNC_SECONDS, lambda: done(outcome(work)))


def test_a_runtime_that_ends_while_the_disk_stalls_lets_go_of_its_logs(tmp_path: Path) -> None:
    async def work(call: Call) -> ToolResult:
        return ToolResult("ok")

    async def main(loop: VirtualLoop) -> None:
        client = Recorder()
        store = JsonlStore(tmp_path / "session-state")
        model = Scripted([calls(("c", "local", "{}"))])
        tools = [LocalTool("local", work)]
        with simulated(Clock(loop), Threads(QUICK)):
            async with running(model, tmp_path, store, tools=tools, off_loop=stalled) as runtime:
                session = await runtime.create(options(tmp_path, session_id="s"), client)
                say(session, "go")
                await client.until("tool.execution_complete")
            with pytest.raises(StoreError):
                session.emit(parse(client.persisted[-1].encoded).data)
        log = store.open("s")
        log.hold()
        log.close()

    run(main)


@pytest.mark.anyio
async def test_a_runtime_that_is_cancelled_logs_the_shutdown_of_its_sessions(tmp_path: Path) -> None:
    with anyio.fail_after(4), anyio.CancelScope() as scope:
        async with running(Scripted(), tmp_path, JsonlStore(tmp_path / "session-state")) as runtime:
            await runtime.create(options(tmp_path, session_id="s"), Recorder())
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    assert [event.type for event in logged(tmp_path)] == ["session.start", "session.shutdown"]
