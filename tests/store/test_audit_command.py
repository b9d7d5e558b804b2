"""`turnwright audit` as a command: what it prints, and its exit status."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.command import turnwright
from tests.store.logs import FIXTURES, bring
from turnwright.store.jsonl import JsonlStore

pytestmark = pytest.mark.anyio


async def test_a_sound_log_is_status_0_and_a_broken_one_1_with_the_line(tmp_path: Path) -> None:
    sound = await turnwright("audit", str(FIXTURES / "tools.jsonl"), cwd=tmp_path)
    broken = await turnwright("audit", str(FIXTURES / "aborted.jsonl"), cwd=tmp_path)
    assert sound == (0, f"{FIXTURES}/tools.jsonl: 31 events, 3 turns, 3 calls: sound\n", "")
    assert broken == (
        1,
        f"{FIXTURES}/aborted.jsonl: 18 events, 3 turns, 1 call: broken\n"
        '  line 10: turn: turn "1" has no end: the run was aborted in line 11\n',
        "",
    )


async def test_without_a_name_all_sessions_are_audited_and_an_id_or_folder_names_one(tmp_path: Path) -> None:
    home = tmp_path / "copilot-home"
    assert await turnwright("audit", cwd=tmp_path) == (0, "", "there is no session to audit\n")
    ids = [bring(name, home) for name in ("tools", "killed")]
    every = await turnwright("audit", "--json", cwd=tmp_path)
    by_id = await turnwright("audit", "--json", ids[0], cwd=tmp_path)
    by_folder = await turnwright("audit", "--json", str(home / "session-state" / ids[1]), cwd=tmp_path)
    assert (every.status, by_id.status, by_folder.status) == (1, 0, 1)
    found = [json.loads(line) for line in every.out.splitlines()]
    assert {report["path"]: report["sound"] for report in found} == {
        str(home / "session-state" / ids[0] / "events.jsonl"): True,
        str(home / "session-state" / ids[1] / "events.jsonl"): False,
    }
    assert json.loads(by_id.out)["report"] == {"lines": 31, "turns": 3, "calls": 3, "findings": []}
    assert json.loads(by_folder.out) in found


@pytest.mark.parametrize("named", ["deadbeef", "copilot-home"])
async def test_what_is_not_there_is_status_1_and_said(tmp_path: Path, named: str) -> None:
    (tmp_path / "copilot-home").mkdir()
    done = await turnwright("audit", named, cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert named in done.err


async def test_the_last_turn_of_a_session_that_is_in_use_may_be_open(tmp_path: Path) -> None:
    root = tmp_path / "copilot-home" / "session-state"
    session_id = bring("killed", root.parent)
    idle = await turnwright("audit", session_id, cwd=tmp_path)
    log = JsonlStore(root).open(session_id)
    try:
        log.hold()
        log.append(b'{"type":"half of a li')
        log.append(b"")
        os.truncate(root / session_id / "events.jsonl", log.size - 2)
        done = await turnwright("audit", session_id, cwd=tmp_path)
        as_json = await turnwright("audit", "--json", session_id, cwd=tmp_path)
    finally:
        log.close()
    assert (idle.status, "has no end: its process was killed" in idle.out) == (1, True)
    first, *rest = done.out.splitlines()
    assert first.endswith(f": sound, in use by pid {os.getpid()}")
    assert [line.partition(": ")[2] for line in rest] == ['turn: turn "1" is open (allowed)']
    assert (done.status, done.err) == (0, "")
    told = json.loads(as_json.out)
    assert (told["sound"], told["inUseBy"]) == (True, f"pid {os.getpid()}")


async def test_what_else_is_wrong_with_a_session_in_use_is_told(tmp_path: Path) -> None:
    root = tmp_path / "copilot-home" / "session-state"
    session_id = bring("aborted", root.parent)
    log = JsonlStore(root).open(session_id)
    try:
        log.hold()
        done = await turnwright("audit", session_id, cwd=tmp_path)
    finally:
        log.close()
    assert (done.status, f": broken, in use by pid {os.getpid()}\n" in done.out) == (1, True)
