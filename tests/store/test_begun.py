"""A session that was killed while it began: it isn't one, and its id is free."""

from pathlib import Path

import anyio
import pytest

from tests.cases.wired import serving
from tests.engine.harness import Recorder, options, running, say
from tests.store.held import held, place
from turnwright.errors import RequestFailed, SessionInUse, StoreError
from turnwright.providers.scripted import Scripted, text
from turnwright.store.audit import audit
from turnwright.store.jsonl import JsonlStore

pytestmark = pytest.mark.anyio

BEGINNINGS = [b"", b'{"type":"session.start","data":{"sess']


def store_with(home: Path, data: bytes) -> JsonlStore:
    """A store in which a log of the session `s` holds these bytes."""
    place(home / "session-state", data)
    return JsonlStore(home / "session-state")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (BEGINNINGS[0], "it is empty"),
        (BEGINNINGS[1], "none of its 37 bytes is of an event"),
        (b"what\nis this?\n", "none of its 14 bytes is of an event"),
    ],
)
async def test_a_session_without_an_event_is_not_found_and_its_log_is_told_of_and_stays(
    tmp_path: Path, data: bytes, what: str
) -> None:
    log = place(tmp_path / "home" / "session-state", data)
    async with serving(tmp_path, None) as server:
        client = server.connect()
        with pytest.raises(RequestFailed) as failed:
            await client.call("session.resume", sessionId="s")
        assert await client.call("session.list") == {"sessions": []}
        assert (log.read_bytes(), [*log.parent.iterdir()]) == (data, [log])
        assert await client.call("session.delete", sessionId="s") == {"success": True}
    assert not log.parent.exists()
    _, _, told = str(failed.value).partition("session.resume failed with message: Session not found: s: ")
    assert told == f"there is a log of it, but {what}. To remove it: turnwright sessions delete s"


@pytest.mark.parametrize("data", BEGINNINGS)
async def test_a_session_killed_before_its_first_event_can_be_created(tmp_path: Path, data: bytes) -> None:
    client = Recorder()
    with anyio.fail_after(10):
        async with running(Scripted([text("ok")]), tmp_path, store_with(tmp_path, data)) as runtime:
            session = await runtime.create(options(tmp_path, session_id="s"), client)
            say(session, "hello")
            await client.until("session.idle")
    log = (tmp_path / "session-state" / "s" / "events.jsonl").read_bytes()
    assert audit(log.splitlines(keepends=True)).findings == []


async def test_a_session_that_another_process_is_just_beginning_is_in_use_and_stays(tmp_path: Path) -> None:
    async with running(Scripted(), tmp_path, store_with(tmp_path, b"")) as runtime:
        with held(tmp_path / "session-state"), pytest.raises(SessionInUse):
            await runtime.create(options(tmp_path, session_id="s"), Recorder())
    assert (tmp_path / "session-state" / "s" / "events.jsonl").read_bytes() == b""


def test_a_log_with_an_event_on_a_damaged_line_is_not_begun_again(tmp_path: Path) -> None:
    log = place(tmp_path, kept := b'{"type":"x","data":{},"id":"1","timestamp":"t","parentId":null}')
    with pytest.raises(StoreError, match="session s exists already"):
        JsonlStore(tmp_path).create("s")
    assert log.read_bytes() == kept


async def test_a_session_with_an_event_exists(tmp_path: Path) -> None:
    async with running(Scripted(), tmp_path, JsonlStore(tmp_path / "session-state")) as runtime:
        await runtime.create(options(tmp_path, session_id="s"), Recorder())
        await runtime.unload("s")
        with pytest.raises(StoreError, match="exists already: resume it"):
            await runtime.create(options(tmp_path, session_id="s"), Recorder())
