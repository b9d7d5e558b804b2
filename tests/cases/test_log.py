"""The log: counted by plain grep, on the disk before it is told, and valid though the disk was full."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from tests.cases.faulty_store import FullDisk, OneLog
from tests.cases.local_tool import LocalTool
from tests.cases.scene import accounted_for, scene, turns
from tests.cases.wired import serving
from tests.engine.harness import app_tools, say
from turnwright.engine.tool_calls.external_tool import Answer
from turnwright.errors import ProviderError, StoreError
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.questions import ExternalToolRequested
from turnwright.protocol.events.session import SessionError
from turnwright.providers.scripted import Step, calls, text
from turnwright.store.jsonl import JsonlStore
from turnwright.store.memory import MemoryLog
from turnwright.tools.builtin import machine_tools

pytestmark = pytest.mark.anyio

QUOTE = '{"type":"assistant.turn_start","data":{"turnId":"0"}} and assistant.turn_start once more'


def grep_count(pattern: str, file: Path) -> int:
    """What `grep -c` says of a file."""
    found = subprocess.run(["grep", "-c", pattern, file], capture_output=True, check=False, timeout=10)
    return int(found.stdout)


async def test_grep_counts_exactly_the_model_calls_though_everything_quotes_an_event_log(
    tmp_path: Path,
) -> None:
    (tmp_path / "events.jsonl").write_text(f"{QUOTE}\n" * 3)
    create = wire.encode({"path": "assistant.turn_start", "file_text": QUOTE}).decode()
    look = wire.encode({"command": "cat events.jsonl; cat assistant.turn_start"}).decode()
    script = [
        calls(("a", "create", create), content=QUOTE),
        calls(("b", "view", '{"path": "events.jsonl"}'), ("c", "bash", look)),
        calls(("assistant.turn_start", "assistant.turn_start", f'{{"assistant.turn_start": {QUOTE}')),
        text(QUOTE),
    ]
    store = JsonlStore(tmp_path / "state")
    async with scene(tmp_path, script, machine=machine_tools(), store=store) as at:
        at.session.permissions.approve_all = True
        await at.prompt(QUOTE)
        at.session.abort(QUOTE)
        log = store.folder(at.session.id) / "events.jsonl"
        assert grep_count("assistant.turn_start", log) == len(at.model.requests) == 4
        assert grep_count("assistant.turn_end", log) >= 4
        assert at.said() == [QUOTE]
        assert [event.encoded for event in at.session.journal.events()] == [
            event.encoded for event in at.client.persisted
        ]


class Noted(MemoryLog):
    """A log that knows how many turns' ends were published when it was last synced."""

    def __init__(self) -> None:
        super().__init__()
        self.published: list[Event] = []
        self.told_at_sync: list[int] = []

    def sync(self) -> None:
        super().sync()
        assert any(b'"assistant.turn_end"' in line for line in self.lines[-2:])
        self.told_at_sync.append(ends(self.published))


def ends(events: list[Event]) -> int:
    """How many turns are known to have ended."""
    return sum(event.type == "assistant.turn_end" for event in events)


async def test_the_end_of_a_turn_is_on_the_disk_before_anyone_hears_of_it(tmp_path: Path) -> None:
    log = Noted()
    script = [calls(("a", "ok", "{}")), text("one"), text("two")]
    async with scene(tmp_path, script, machine=[LocalTool("ok")], store=OneLog(tmp_path, log)) as at:
        log.published = at.client.events
        await at.prompt("go")
        await at.prompt("on")
        assert log.told_at_sync == [0, 1, 2]
        assert ends(at.client.events) == 3


async def test_what_follows_the_end_of_a_turn_is_held_back_until_that_is_on_the_disk(tmp_path: Path) -> None:
    class Slow(MemoryLog):
        def sync(self) -> None:
            asyncio.run_coroutine_threadsafe(reached_disk(), loop).result(5)

    async def reached_disk() -> None:
        at.session.set_mode("plan")
        assert at.client.types[-1] == "assistant.message"
        at.session.abort()
        assert at.client.types[-1] == "assistant.message"

    loop = asyncio.get_running_loop()
    async with scene(tmp_path, [text("one")], store=OneLog(tmp_path, Slow())) as at:
        await at.prompt("go")
        after = at.client.types[at.client.types.index("assistant.message") + 1 :]
        assert after[:3] == ["assistant.turn_end", "session.mode_changed", "abort"]
        assert after[-1] == "session.idle"


async def test_a_log_that_cannot_be_synced_is_an_error_and_the_session_goes_on(tmp_path: Path) -> None:
    class Unsynced(MemoryLog):
        faults = 1

        def sync(self) -> None:
            if self.faults:
                self.faults -= 1
                raise StoreError("can't sync the session's log: Input/output error")

    async with scene(tmp_path, [text("one"), text("two")], store=OneLog(tmp_path, Unsynced())) as at:
        await at.prompt("go")
        assert at.client.types[-3:] == ["session.error", "assistant.idle", "session.idle"]
        await at.prompt("on")
        assert at.client.count("session.error") == 1


SCRIPT: list[Step] = [
    calls(("a", "ok", "{}"), ("b", "ok", "{}")),
    text("one"),
    calls(("c", "ok", "{}")),
    text("two"),
    text("three"),
    text("four"),
]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize("first", range(2, 16))
async def test_a_full_disk_is_an_error_and_idle_and_afterwards_the_session_goes_on_with_a_valid_log(
    tmp_path: Path, first: int, count: int
) -> None:
    log = FullDisk(first, count)
    async with scene(tmp_path, SCRIPT, machine=[LocalTool("ok")], store=OneLog(tmp_path, log)) as at:
        await at.prompt("go")
        if log.appends >= first:
            errors = [event for event in at.client.events if isinstance(event.data, SessionError)]
            assert [(e.ephemeral, e.data.error_type) for e in errors if isinstance(e.data, SessionError)] == [
                (True, "store")
            ]
        assert at.client.types[-2:] == ["assistant.idle", "session.idle"]
        assert at.client.count("session.idle") == 1
        assert [event.encoded for event in at.client.persisted] == log.lines
        log.refused = range(0)
        await at.prompt("on")
        assert at.client.types[-1] == "session.idle"
        events = at.session.journal.events()
        accounted_for(events)
        assert [event.encoded for event in at.client.persisted] == log.lines


@pytest.mark.parametrize("first", range(2, 9))
async def test_an_error_of_the_model_is_said_though_the_disk_is_full(tmp_path: Path, first: int) -> None:
    log = FullDisk(first, 1)
    script = [ProviderError("no", kind="query", status=400), text("later")]
    async with scene(tmp_path, script, store=OneLog(tmp_path, log)) as at:
        await at.prompt("go")
        assert at.client.types[-3:] == ["session.error", "assistant.idle", "session.idle"]
        assert at.client.count("session.error") == 1
        await at.prompt("on")
        assert [event.encoded for event in at.client.persisted] == log.lines


async def test_a_message_sent_while_the_disk_is_full_is_refused_or_ends_in_an_error(tmp_path: Path) -> None:
    log = FullDisk(1, 1000)
    async with scene(tmp_path, [text("later")], store=OneLog(tmp_path, log)) as at:
        for n in range(3):
            say(at.session, "hello?")
            await at.client.until("session.idle", n + 1)
        assert len(at.all(SessionError)) == 3
        log.refused = range(0)
        await at.prompt("now")
        assert at.client.count("session.error") == 3
        assert turns(at.session.journal.events()) == 1


@pytest.mark.parametrize("count", [1, 2, 1000])
async def test_an_answer_that_the_full_disk_does_not_take_is_refused_and_idle_comes(
    tmp_path: Path, count: int
) -> None:
    log = FullDisk(0, 0)
    script = [calls(("a", "ask", "{}")), text("one"), text("two")]
    async with scene(tmp_path, script, tools=app_tools("ask"), store=OneLog(tmp_path, log)) as at:
        say(at.session, "go")
        await at.client.until("external_tool.requested")
        log.refused = range(log.appends, log.appends + count)
        request_id = at.all(ExternalToolRequested)[0].request_id
        with pytest.raises(StoreError, match="No space left on device"):
            at.session.questions.answer(request_id, Answer("42"))
        await at.client.until("session.idle")
        log.refused = range(0)
        await at.prompt("on")
        events = at.session.journal.events()
        accounted_for(events)
        assert at.session.journal.state.questions == {}
        assert [event.encoded for event in at.client.persisted] == log.lines


async def test_an_event_of_a_type_that_nobody_knows_is_kept_byte_for_byte(tmp_path: Path) -> None:
    """B90"""
    async with serving(tmp_path, [text("one"), text("two")]) as server:
        client = server.connect()
        await client.call("session.create", sessionId="it", workingDirectory=str(tmp_path))
        await client.call("session.send", sessionId="it", prompt="hi")
        await client.until("session.idle")
        await client.call("session.destroy", sessionId="it")
        last = server.logged("it")[-1]
        future = (
            f'{{"type":"x.future", "data":{{"n":1.50,"deep":[{{}}]}}, "id":"f","timestamp":"t",'
            f'"parentId":"{last.id}","extra":true}}'
        )
        with server.log_of("it").open("a") as log:
            log.write(f"{future}\n")
        await client.call("session.resume", sessionId="it")
        raw = await client.peer.call("session.getMessages", {"sessionId": "it"})
        assert future.encode() in bytes(raw)
        await client.call("session.send", sessionId="it", prompt="again")
        await client.until("session.idle", 2)
        assert future.encode() in server.log_of("it").read_bytes().splitlines()
