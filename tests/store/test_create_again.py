"""A session whose process was killed before its first event was whole: its id is free."""

from pathlib import Path

import anyio
import pytest

from tests.engine.harness import Recorder, options, running, say
from turnwright.errors import SessionInUse, SessionNotFound, StoreError
from turnwright.providers.scripted import Scripted, text
from turnwright.store.audit import audit
from turnwright.store.jsonl import LOG_NAME, JsonlStore

pytestmark = pytest.mark.anyio

STILLBORN = [b"", b'{"type":"session.start","data":{"sess']


@pytest.mark.parametrize("left", STILLBORN)
async def test_a_session_of_which_nobody_heard_is_not_found_and_can_be_created(
    tmp_path: Path, left: bytes
) -> None:
    store = JsonlStore(tmp_path / "session-state")
    log = store.folder("s") / LOG_NAME
    log.parent.mkdir(parents=True)
    log.write_bytes(left)
    client = Recorder()
    with anyio.fail_after(10):
        async with running(Scripted([text("hi")]), tmp_path, store) as runtime:
            with pytest.raises(SessionNotFound):
                await runtime.resume("s", options(tmp_path), client)
            assert "s" not in runtime.sessions
            log.write_bytes(left)
            session = await runtime.create(options(tmp_path, session_id="s"), client)
            say(session, "hello")
            await client.until("session.idle")
    lines = log.read_bytes().splitlines(keepends=True)
    assert audit(lines).findings == []
    assert lines[: len(client.persisted)] == [event.encoded + b"\n" for event in client.persisted]


def test_a_session_that_has_begun_can_not_be_created_again(tmp_path: Path) -> None:
    kept = b'{"type":"x","data":{},"id":"1","timestamp":"t","parentId":null}'
    log = tmp_path / "s" / LOG_NAME
    log.parent.mkdir()
    log.write_bytes(kept)
    with pytest.raises(StoreError, match="session s exists already"):
        JsonlStore(tmp_path).create("s")
    assert log.read_bytes() == kept


def test_a_session_that_is_just_being_created_is_in_use(tmp_path: Path) -> None:
    log = JsonlStore(tmp_path).create("s")
    log.hold()
    with pytest.raises(SessionInUse):
        JsonlStore(tmp_path).create("s")
    log.close()
