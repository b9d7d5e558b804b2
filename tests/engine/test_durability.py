"""What is on the disk before a client sees it: as the user chose, and in the same order whatever that is."""

import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.cases.faulty_store import FullDisk, OneLog
from tests.cases.local_tool import LocalTool
from tests.cases.scene import Scene, scene
from tests.engine.harness import HeldDisk, Recorder, options, running, say
from turnwright import Client
from turnwright.engine.journal.journal import Journal
from turnwright.engine.journal.off_loop import Threads
from turnwright.engine.journal.publication import Publication
from turnwright.engine.session import Session
from turnwright.errors import ConfigError, StoreError
from turnwright.protocol.envelope import Event, seal
from turnwright.protocol.events.conversation import TurnEnd
from turnwright.protocol.events.session import Idle, ModeChanged
from turnwright.protocol.options import Durability
from turnwright.providers.scripted import Scripted, Step, calls, text
from turnwright.store.checksums import SUMS_NAME
from turnwright.store.memory import MemoryLog

pytestmark = pytest.mark.anyio


class CountedLog(MemoryLog):
    """A log that counts how often it is synced."""

    syncs = 0

    def sync(self) -> None:
        super().sync()
        self.syncs += 1


class Witness(Recorder):
    """A client that notes which events it was sent before the disk had them."""

    def __init__(self, log: MemoryLog) -> None:
        super().__init__()
        self.early: list[str] = []
        self._log = log

    def publish(self, session_id: str, event: Event) -> None:
        super().publish(session_id, event)
        if not event.ephemeral and event.encoded not in self._log.lines[: self._log.synced]:
            self.early.append(event.type)


async def converse(tmp_path: Path, durability: Durability, log: MemoryLog, client: Recorder) -> Scene:
    """A session of two prompts, with two calls side by side."""
    script: list[Step] = [calls(("a", "ok", "{}"), ("b", "ok", "{}")), text("one"), text("two")]
    async with scene(
        tmp_path,
        script,
        machine=[LocalTool("ok")],
        store=OneLog(tmp_path, log),
        client=client,
        durability=durability,
    ) as at:
        await at.prompt("go")
        await at.prompt("on")
        await at.runtime.unload(at.session.id)
    return at


async def test_every_event_is_on_the_disk_before_it_is_seen_if_the_user_wants_that(tmp_path: Path) -> None:
    log = CountedLog()
    client = Witness(log)
    await converse(tmp_path, "event", log, client)
    assert [event.encoded for event in client.persisted] == log.lines
    assert client.early == []
    assert 3 < log.syncs < len(log.lines)


async def test_by_default_a_turns_end_is_and_what_comes_before_it_may_be_seen_earlier(tmp_path: Path) -> None:
    log = CountedLog()
    client = Witness(log)
    await converse(tmp_path, "turn", log, client)
    assert "user.message" in client.early
    assert "assistant.turn_end" not in client.early
    assert log.syncs == 3


async def test_nothing_is_synced_where_the_user_does_without(tmp_path: Path) -> None:
    log = CountedLog()
    await converse(tmp_path, "none", log, Recorder())
    assert log.syncs == 0


async def test_events_come_in_one_order_however_durable_they_are(tmp_path: Path) -> None:
    orders: list[list[str]] = []
    for durability in ("turn", "event", "none"):
        (tmp_path / durability).mkdir()
        client = Recorder()
        await converse(tmp_path / durability, durability, MemoryLog(), client)
        orders.append(client.types)
    assert orders[0] == orders[1] == orders[2]


async def test_a_disk_that_refuses_an_event_ends_the_run_and_the_next_one_goes_on(tmp_path: Path) -> None:
    class Unsynced(MemoryLog):
        faults = 1

        def sync(self) -> None:
            if self.faults:
                self.faults -= 1
                raise StoreError("can't sync the session's log: Input/output error")
            super().sync()

    store = OneLog(tmp_path, Unsynced())
    async with scene(tmp_path, [text("one"), text("two")], store=store, durability="event") as at:
        await at.prompt("go")
        assert at.client.types[-3:] == ["session.error", "assistant.idle", "session.idle"]
        await at.prompt("on")
        assert at.client.count("session.error") == 1


async def test_an_end_that_comes_while_another_is_synced_waits_for_a_sync_of_its_own() -> None:
    """A summary in the background ends its turn beside the run's."""
    reached, go_on = threading.Semaphore(0), threading.Semaphore(0)

    def sync() -> None:
        reached.release()
        assert go_on.acquire(timeout=5)

    seen: list[Event] = []
    threads = Threads()
    publication = Publication(lambda: sync, threads.begin)
    publication.subscribers.append(seen.append)
    first, second = (seal(ModeChanged("interactive", mode), parent_id=None) for mode in ("plan", "autopilot"))
    last = seal(Idle(), parent_id=None)

    async def end(event: Event) -> None:
        publication.publish_synced(event, at_once=True)
        await publication.settled(0)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(end, first)
            await anyio.to_thread.run_sync(reached.acquire)
            tasks.start_soon(end, second)
            await anyio.wait_all_tasks_blocked()
            publication.publish(last)
            go_on.release()
            await anyio.to_thread.run_sync(reached.acquire)
            assert seen == [first]
            go_on.release()
    threads.close()
    assert seen == [first, second, last]


@asynccontextmanager
async def syncing(
    tmp_path: Path, model: Scripted, log: MemoryLog | None = None
) -> AsyncGenerator[tuple[Session, Recorder, HeldDisk]]:
    """A session whose first turn called a tool and has ended, but for the disk."""
    disk, client, store = HeldDisk(), Recorder(), OneLog(tmp_path / "state", log or MemoryLog())
    tools = [LocalTool("ok")]
    with anyio.fail_after(20):
        async with running(model, tmp_path, store, tools=tools, off_loop=disk.begin) as runtime:
            session = await runtime.create(options(tmp_path), client)
            await disk.end()
            say(session, "go")
            await anyio.wait_all_tasks_blocked()
            assert (session.journal.events()[-1].type, len(model.requests)) == ("assistant.turn_start", 1)
            assert client.types[-1] == "tool.execution_complete"
            yield session, client, disk
            await disk.end()
            assert client.types[-1] == "session.idle"


def ends(client: Recorder) -> list[tuple[str, bool]]:
    """The turns that ended, and whether their request was sent."""
    return [(e.data.turn_id, e.data.request_sent) for e in client.events if isinstance(e.data, TurnEnd)]


async def test_the_next_request_is_prepared_while_the_disk_syncs_and_sent_after(tmp_path: Path) -> None:
    model = Scripted([calls(("a", "ok", "{}")), text("done")])
    async with syncing(tmp_path, model) as (_, client, disk):
        await disk.end()
        assert len(model.requests) == 2
        assert ends(client) == [("0", True)]
    assert ends(client) == [("0", True), ("1", True)]


async def test_an_abort_while_the_disk_syncs_sends_no_further_request(tmp_path: Path) -> None:
    model = Scripted([calls(("a", "ok", "{}")), text("done")])
    async with syncing(tmp_path, model) as (session, client, _):
        session.abort()
        await anyio.wait_all_tasks_blocked()
        assert ends(client) == []
    assert len(model.requests) == 1
    assert ends(client) == [("0", True), ("1", False)]


async def test_a_turn_without_a_request_whose_end_the_full_disk_did_not_take_says_so_later(
    tmp_path: Path,
) -> None:
    model, log = Scripted([calls(("a", "ok", "{}")), text("done")]), FullDisk(0, 0)
    async with syncing(tmp_path, model, log) as (session, client, disk):
        session.abort()
        log.refused = range(log.appends, log.appends + 1)
        await anyio.wait_all_tasks_blocked()
        assert log.appends == log.refused.stop
        await disk.end()
        say(session, "on")
        await anyio.wait_all_tasks_blocked()
    assert len(model.requests) == 2
    assert ends(client) == [("0", True), ("1", False), ("0", True)]


async def test_a_sync_that_fails_ends_the_run_before_the_next_request(tmp_path: Path) -> None:
    model = Scripted([calls(("a", "ok", "{}")), text("done")])
    async with syncing(tmp_path, model) as (_, client, disk):
        await disk.end(StoreError("can't sync the session's log: Input/output error"))
    assert len(model.requests) == 1
    assert ends(client) == [("0", True), ("1", False)]
    assert client.types[-4:] == ["session.error", "assistant.idle", "session.idle", "session.shutdown"]


async def test_everyone_who_waits_for_a_sync_is_told_that_it_failed() -> None:
    refused = StoreError("no")

    def sync() -> None:
        raise refused

    threads = Threads()
    publication = Publication(lambda: sync, threads.begin)
    publication.publish_synced(seal(Idle(), parent_id=None), at_once=True)
    with anyio.fail_after(5):
        for _ in range(2):
            with pytest.raises(StoreError, match=r"^no$"):
                await publication.settled(0)
        await publication.settled(publication.refusals)
    threads.close()


@pytest.mark.parametrize(("durability", "syncs"), [("turn", True), ("none", False)])
async def test_an_app_says_how_durable_the_runtime_in_its_process_is(
    tmp_path: Path, durability: Durability, syncs: bool
) -> None:
    with anyio.fail_after(20):
        async with (
            Client(provider=Scripted([text("hi")]), home=tmp_path, durability=durability) as client,
            await client.create_session(working_directory=tmp_path) as session,
        ):
            await session.send_and_wait("go")
    sums = "".join(file.read_text() for file in tmp_path.rglob(SUMS_NAME))
    assert bool(sums) == syncs, "each sync leaves one"


def test_a_runtime_elsewhere_has_a_durability_of_its_own() -> None:
    with pytest.raises(ConfigError, match="durability: a runtime in another process has its own"):
        Client(address="127.0.0.1:1", durability="none")


async def test_a_session_that_is_put_to_sleep_says_its_last_event_once_the_disk_has_it(
    tmp_path: Path,
) -> None:
    log = MemoryLog()
    journal = Journal(log, durability="event")
    seen: list[tuple[Event, int]] = []
    journal.subscribers.append(lambda event: seen.append((event, log.synced)))
    said = journal.emit(ModeChanged("interactive", "plan"))
    assert seen == []
    journal.sleep()
    assert seen == [(said, 1)]


async def test_a_session_that_is_put_to_sleep_while_the_disk_syncs_syncs_itself_before_it_says_more() -> None:
    disk, told = HeldDisk(), list[str]()
    publication = Publication(lambda: lambda: told.append("synced"), disk.begin)
    publication.subscribers.append(lambda event: told.append(event.type))
    publication.publish_synced(seal(Idle(), parent_id=None), at_once=True)
    publication.flush()
    await disk.end()
    assert told == ["synced", "session.idle", "synced"]
