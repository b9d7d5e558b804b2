"""`turnwright audit` as a command: what it prints, and its exit status."""

import json
from pathlib import Path

import pytest

from tests.cli.command import turnwright
from tests.store.logs import FIXTURES, bring

pytestmark = pytest.mark.anyio


async def test_a_sound_log_is_status_0_and_a_broken_one_1_with_the_line(tmp_path: Path) -> None:
    sound = await turnwright("audit", str(FIXTURES / "tools.jsonl"), cwd=tmp_path)
    broken = await turnwright("audit", str(FIXTURES / "aborted.jsonl"), cwd=tmp_path)
    assert sound == (0, f"{FIXTURES}/tools.jsonl: 31 events, 3 turns, 3 calls: sound\n", "")
    assert broken == (
        1,
        f"{FIXTURES}/aborted.jsonl: 18 events, 3 turns, 1 calls: broken\n"
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
