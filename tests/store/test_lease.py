"""One writer: a session that another process writes is refused, and what it wrote is known afterwards."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.cases.scene import words
from tests.engine.harness import Recorder, options, running, say
from turnwright.engine.runtime import Runtime
from turnwright.errors import SessionInUse, StoreError
from turnwright.protocol.events.session import ModeChanged
from turnwright.providers.scripted import Scripted, Step, calls, text
from turnwright.store.audit import audit
from turnwright.store.jsonl import JsonlStore

pytestmark = pytest.mark.anyio

HOLD = """
import sys
from pathlib import Path
from turnwright.store.jsonl import JsonlStore
log = JsonlStore(Path(sys.argv[1])).open("s")
log.hold()
sys.stdout.buffer.write(b"held")
sys.stdout.flush()
sys.stdin.read()
"""


def root(home: Path) -> Path:
    return home / "session-state"


def marks(home: Path) -> list[str]:
    """The marks of holders in the session's folder."""
    return sorted(file.name for file in (root(home) / "s").glob("inuse.*"))


def is_sound(home: Path) -> bool:
    log = (root(home) / "s" / "events.jsonl").read_bytes()
    return audit(log.splitlines(keepends=True)).findings == []


@asynccontextmanager
async def process(home: Path, script: list[Step]) -> AsyncGenerator[tuple[Runtime, Scripted]]:
    """A runtime as another process would have it: with a store of its own."""
    model = Scripted(script)
    with anyio.fail_after(20):
        async with running(model, home, JsonlStore(root(home))) as runtime:
            yield runtime, model


async def test_two_processes_may_have_an_idle_session_live_and_each_knows_what_the_other_wrote(
    tmp_path: Path,
) -> None:
    async with (
        process(tmp_path, [text("one"), text("three")]) as (first, model),
        process(tmp_path, [text("two")]) as (second, other),
    ):
        clients = Recorder(), Recorder()
        session = await first.create(options(tmp_path, session_id="s"), clients[0])
        say(session, "1")
        await clients[0].until("session.idle")
        again = await second.resume("s", options(tmp_path), clients[1])
        say(again, "2")
        await clients[1].until("session.idle")
        say(session, "3")
        await clients[0].until("session.idle", 2)
        assert [words(request) for request in (*model.requests, *other.requests)] == [
            ["1"],
            ["1", "2", "3"],
            ["1", "2"],
        ]
        assert model.problems == other.problems == []
        assert marks(tmp_path) == []
    assert is_sound(tmp_path)


async def test_while_a_run_is_in_hand_another_process_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    async with process(tmp_path, [calls(("a", "ask_user", '{"question": "?"}')), text("one")]) as (first, _):
        client = Recorder()
        hold = anyio.Event()
        session = await first.create(options(tmp_path, session_id="s", request_user_input=True), client)
        client.on_event = lambda event: hold.set() if event.type == "user_input.requested" else None
        async with process(tmp_path, []) as (second, _other):
            late = Recorder()
            other = await second.resume("s", options(tmp_path), late)
            say(session, "go")
            await client.until("tool.execution_start")
            assert marks(tmp_path) == [f"inuse.{os.getpid()}.lock"]
            before = (root(tmp_path) / "s" / "events.jsonl").read_bytes()
            with pytest.raises(SessionInUse, match=rf"session s is in use by pid {os.getpid()}"):
                say(other, "me too")
            with pytest.raises(SessionInUse):
                other.emit(ModeChanged("interactive", "plan"))
            async with process(tmp_path, []) as (third, _):
                with pytest.raises(SessionInUse):
                    await third.resume("s", options(tmp_path), Recorder())
                with pytest.raises(SessionInUse):
                    await third.delete("s")
            assert (root(tmp_path) / "s" / "events.jsonl").read_bytes() == before
            session.abort()
            await client.until("session.idle")
            other.set_mode("plan")
    assert is_sound(tmp_path)


async def test_a_hold_of_a_moment_that_becomes_a_longer_one_is_marked_from_then_on(tmp_path: Path) -> None:
    log = JsonlStore(root(tmp_path)).create("s")
    log.hold(briefly=True)
    assert marks(tmp_path) == []
    log.hold()
    assert marks(tmp_path) == [f"inuse.{os.getpid()}.lock"]
    log.close()
    assert marks(tmp_path) == []


async def test_a_holder_that_is_killed_leaves_the_session_to_the_next_at_once(tmp_path: Path) -> None:
    """B103"""
    async with process(tmp_path, [text("one")]) as (runtime, _):
        client = Recorder()
        await runtime.create(options(tmp_path, session_id="s"), client)
        await runtime.unload("s")
        command = [sys.executable, "-c", HOLD, str(root(tmp_path))]
        async with await anyio.open_process(command) as holder:
            assert holder.stdout is not None
            assert await holder.stdout.receive() == b"held"
            with pytest.raises(SessionInUse, match=f"in use by pid {holder.pid}"):
                await runtime.resume("s", options(tmp_path), client)
            holder.kill()
        session = await runtime.resume("s", options(tmp_path), client)
        say(session, "hi")
        await client.until("session.idle")
        assert marks(tmp_path) == []


@pytest.mark.parametrize("pid", [99_999_999, 0, -1])
async def test_the_mark_of_a_process_that_is_gone_is_removed(tmp_path: Path, pid: int) -> None:
    """B103"""
    async with process(tmp_path, []) as (runtime, _):
        await runtime.create(options(tmp_path, session_id="s"), Recorder())
        await runtime.unload("s")
        (root(tmp_path) / "s" / f"inuse.{pid}.lock").write_text(str(pid))
        await runtime.resume("s", options(tmp_path), Recorder())
        assert marks(tmp_path) == []


async def test_the_mark_of_a_living_process_that_knows_no_lock_is_honoured(tmp_path: Path) -> None:
    """B103"""
    async with process(tmp_path, []) as (runtime, _):
        await runtime.create(options(tmp_path, session_id="s"), Recorder())
        await runtime.unload("s")
        mark = root(tmp_path) / "s" / f"inuse.{os.getppid()}.lock"
        mark.write_text(str(os.getppid()))
        with pytest.raises(SessionInUse, match=f"in use by pid {os.getppid()}"):
            await runtime.resume("s", options(tmp_path), Recorder())
        assert mark.exists()
        os.utime(mark, (1, 1))  # a mark older than the process that has its pid now
        await runtime.resume("s", options(tmp_path), Recorder())
        assert marks(tmp_path) == []


async def test_of_two_that_create_one_session_the_second_writes_nothing(tmp_path: Path) -> None:
    async with process(tmp_path, []) as (first, _), process(tmp_path, []) as (second, _other):
        await first.create(options(tmp_path, session_id="s"), Recorder())
        before = (root(tmp_path) / "s" / "events.jsonl").read_bytes()
        with pytest.raises(StoreError, match="exists already"):
            await second.create(options(tmp_path, session_id="s"), Recorder())
        assert (root(tmp_path) / "s" / "events.jsonl").read_bytes() == before


async def test_a_log_that_another_process_cut_back_is_read_anew(tmp_path: Path) -> None:
    async with process(tmp_path, [text("one"), text("three")]) as (first, model):
        client = Recorder()
        session = await first.create(options(tmp_path, session_id="s"), client)
        say(session, "1")
        await client.until("session.idle")
        log = JsonlStore(root(tmp_path)).open("s")
        log.hold()
        log.rewrite(list(log.read())[:1])
        log.close()
        say(session, "3")
        await client.until("session.idle", 2)
        assert words(model.requests[-1]) == ["3"]
    assert is_sound(tmp_path)
