"""A hundred of the ten thousand seeds of `scripts/faults simulate`, and what a seed means."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.simulation.faults import KINDS
from tests.simulation.runner import Result, simulate

GROUPS = 10
GROUP = 10
REPLAYED = 4
DIGEST = "import sys; from tests.simulation.runner import simulate; print(simulate(int(sys.argv[1])).digest)"


@cache
def result(seed: int) -> Result:
    """What a seed came to when it was run first."""
    return simulate(seed)


@pytest.mark.parametrize("group", range(GROUPS))
def test_whatever_goes_wrong_nothing_is_lost_and_idle_comes(group: int) -> None:
    results = [result(seed) for seed in range(group * GROUP, (group + 1) * GROUP)]
    assert [(result.seed, result.problems) for result in results if result.problems] == []


def test_a_seed_gives_the_same_trace_and_the_same_log_once_more() -> None:
    assert result(REPLAYED).events > 0
    assert simulate(REPLAYED) == result(REPLAYED)


def test_a_seed_gives_the_same_trace_and_the_same_log_in_another_process() -> None:
    other = subprocess.run(
        [sys.executable, "-c", DIGEST, str(REPLAYED)],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert other.stdout.decode().strip() == result(REPLAYED).digest


def test_two_seeds_are_two_runs() -> None:
    assert result(1).trace != result(2).trace


def test_every_kind_of_fault_strikes() -> None:
    struck = {kind for seed in range(GROUPS * GROUP) for kind in result(seed).struck}
    assert struck == {*KINDS}
