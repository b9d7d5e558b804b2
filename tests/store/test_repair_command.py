"""`turnwright sessions repair` as a command: what it does to the files, what it says, and its exit status."""

from pathlib import Path

import pytest

from tests.cli.command import turnwright
from tests.store.logs import bring, lines_of
from turnwright.store.jsonl import JsonlStore

pytestmark = pytest.mark.anyio


async def test_a_broken_session_is_mended_its_original_kept_and_the_audit_that_named_it_is_clean(
    tmp_path: Path,
) -> None:
    session = bring("killed", tmp_path / "copilot-home")
    log = tmp_path / "copilot-home" / "session-state" / session / "events.jsonl"
    with log.open("ab") as file:
        file.write(b"\0" * 100)
    was = log.read_bytes()
    audited = await turnwright("audit", session, cwd=tmp_path)
    mended = await turnwright("sessions", "repair", session, cwd=tmp_path)
    again = await turnwright("audit", session, cwd=tmp_path)
    assert (audited.status, audited.err) == (1, f"To mend it: turnwright sessions repair {session}\n")
    assert (mended.status, mended.err) == (0, "")
    assert mended.out == (
        "  line 15: call_1_0 had no result: it was added\n"
        '  line 15: turn "1" had no end: it was added\n'
        "  line 16: 100 bytes that are no event were set aside\n"
        f"{log}: 3 repairs; the log as it was: events.jsonl.original\n"
    )
    assert again == (0, f"{log}: 17 events, 2 turns, 2 calls: sound\n", "")
    assert log.with_name("events.jsonl.original").read_bytes() == was
    assert log.with_name("events.jsonl.torn").read_bytes() == b"\0" * 100 + b"\n"


async def test_a_sound_session_is_left_as_it_is(tmp_path: Path) -> None:
    session = bring("tools", tmp_path / "copilot-home")
    folder = tmp_path / "copilot-home" / "session-state" / session
    done = await turnwright("sessions", "repair", session[:36], cwd=tmp_path)
    assert done == (0, f"{folder / 'events.jsonl'}: there is nothing to mend\n", "")
    assert [file.name for file in folder.iterdir()] == ["events.jsonl"]
    assert (folder / "events.jsonl").read_bytes() == b"".join(lines_of("tools"))


async def test_what_cant_be_mended_is_said_and_nothing_is_changed(tmp_path: Path) -> None:
    session = bring("tools", tmp_path / "copilot-home")
    log = tmp_path / "copilot-home" / "session-state" / session / "events.jsonl"
    log.write_bytes(b"".join(lines_of("tools")[1:]))
    was = log.read_bytes()
    done = await turnwright("sessions", "repair", session, cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert f"session {session} can't be mended: it has no session.start" in done.err
    assert log.read_bytes() == was
    assert [file.name for file in log.parent.iterdir()] == ["events.jsonl"]


async def test_of_a_log_without_anything_in_it_audit_and_repair_say_how_to_remove_it(tmp_path: Path) -> None:
    session = bring("tools", tmp_path / "copilot-home")
    log = tmp_path / "copilot-home" / "session-state" / session / "events.jsonl"
    log.write_bytes(b"")
    why = "it has no session.start, which says what session it is"
    advice = f"To remove it: turnwright sessions delete {session}\n"
    audited = await turnwright("audit", session, cwd=tmp_path)
    repaired = await turnwright("sessions", "repair", session, cwd=tmp_path)
    assert (audited.status, audited.err) == (1, f"It can't be mended: {why}. {advice}")
    told = f"turnwright: session {session} can't be mended: {why}. Its log is as it was.\n"
    assert repaired == (1, "", told + advice)
    removed = await turnwright("sessions", "delete", session, cwd=tmp_path)
    assert (removed.status, log.parent.exists()) == (0, False)


async def test_a_turn_that_is_missing_as_a_whole_stays_missing_and_is_said(tmp_path: Path) -> None:
    session = bring("tools", tmp_path / "copilot-home")
    log = tmp_path / "copilot-home" / "session-state" / session / "events.jsonl"
    lines = lines_of("tools")
    log.write_bytes(b"".join([*lines[:3], *lines[15:]]))
    done = await turnwright("sessions", "repair", session, cwd=tmp_path)
    assert done.status == 1
    assert 'turn "1" begins where 0 should: it can\'t be mended' in done.err


async def test_a_session_that_is_in_use_is_left_to_its_user(tmp_path: Path) -> None:
    session = bring("killed", tmp_path / "copilot-home")
    held = JsonlStore(tmp_path / "copilot-home" / "session-state").open(session)
    held.hold()
    try:
        was = b"".join(held.read())
        done = await turnwright("sessions", "repair", session, cwd=tmp_path)
        assert (done.status, done.out) == (1, "")
        assert f"session {session} is in use by pid" in done.err
        assert b"".join(held.read()) == was
    finally:
        held.close()
