"""A runtime that is killed loses nothing that a client has seen, and another one goes on with its session."""

from pathlib import Path

import pytest

from tests.faults.kills import Kill, at_every_point, at_random, outcomes
from tests.faults.processes import describe, kill_processes
from tests.faults.sessions import ABORT, PARALLEL, SCENARIOS
from turnwright.testing.aftermath import Aftermath, look
from turnwright.testing.crash import Scenario, count_points, kill_at
from turnwright.testing.kill_points import Point


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_kill_loses_nothing_that_a_client_has_seen(tmp_path: Path, scenario: Scenario) -> None:
    """B16. Every point and thousands of instants are tried by scripts/faults; here, a few."""
    kills = [*at_every_point(scenario, tmp_path / "a", 61), *at_random(scenario, tmp_path / "b", 2)]
    assert len(kills) > 5
    assert [(str(kill), after) for kill, after in outcomes(kills, tmp_path) if not after.is_fine] == []


def test_a_process_dies_at_the_point_that_was_chosen(tmp_path: Path) -> None:
    passed, _ = count_points(PARALLEL, tmp_path / "whole")
    lines = (tmp_path / "whole" / "session-state" / "killed" / "events.jsonl").read_bytes().splitlines()
    assert passed.writes == len(lines)
    kill_at(PARALLEL, tmp_path / "third", Point("within", 3))
    assert not (tmp_path / "third" / "passed").exists()
    torn = (tmp_path / "third" / "session-state" / "killed" / "events.jsonl.torn").read_bytes()
    assert torn.startswith(b'{"type":"user.message"')


def test_an_event_that_was_seen_and_is_not_in_the_log_counts_as_lost(tmp_path: Path) -> None:
    count_points(ABORT, tmp_path / "whole")
    told = (tmp_path / "whole" / "told").read_bytes()
    log = (tmp_path / "whole" / "session-state" / "killed" / "events.jsonl").read_bytes()
    assert look(told, log, log, []) == Aftermath(0, 0, [])
    without_last = log[: log.rstrip(b"\n").rfind(b"\n") + 1]
    aftermath = look(told, without_last, without_last, ["a call without a result"])
    assert (aftermath.lost, aftermath.invalid) == (1, 1)
    assert aftermath.faults[1].startswith("lost: session.shutdown")


def test_a_kill_is_told_in_words() -> None:
    assert str(Kill(ABORT, Point("step", 7), False)) == "abort, step 7, interrupts what was pending"


@pytest.mark.anyio
async def test_a_real_process_that_is_killed_loses_nothing_that_its_client_has_seen(tmp_path: Path) -> None:
    """B16. Two hundred are tried by scripts/faults."""
    assert describe(await kill_processes(range(2), tmp_path)) == []
