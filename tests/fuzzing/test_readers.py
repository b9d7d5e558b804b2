"""A small part of what scripts/fuzz does; what an input costs is counted for each one."""

import sys
from itertools import islice
from pathlib import Path
from types import FrameType

import pytest

from tests.fuzzing.bounds import bounded
from tests.fuzzing.campaign import TARGETS, Tally, inputs_for, try_all
from tests.fuzzing.crew import tallies
from tests.fuzzing.target import Broken, Target

INPUTS = 300
REPEATS = 40
TWICE, SLACK = 2.2, 1000
"""How much more work twice an input may be, and so many lines of Python."""

each_target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)


@each_target
def test_whatever_comes_is_read_or_refused_at_a_bounded_cost(target: Target, tmp_path: Path) -> None:
    inputs = islice(inputs_for(target, seed=1), INPUTS)
    assert try_all(target, inputs, tmp_path, every=1) == Tally(tried=INPUTS)


@each_target
def test_twice_as_much_of_the_same_is_about_twice_the_work(target: Target) -> None:
    for sample in target.samples():
        once, twice, again = (
            _lines_run(target, sample[:1] + sample[1:] * n) for n in (0, REPEATS, 2 * REPEATS)
        )
        assert again - once < TWICE * (twice - once) + 1000, sample[:100]


def _lines_run(target: Target, data: bytes) -> int:
    """How many lines of Python an input takes, each pass of a loop counted."""
    lines = 0

    def count(frame: FrameType, event: str, argument: object) -> object:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)  # pyright: ignore[reportArgumentType]
    try:
        target.attempt(data)
    finally:
        sys.settrace(before)
    return lines


def test_what_costs_too_much_is_ended_and_said() -> None:
    def for_ever(data: bytes) -> None:
        while True:
            data.find(b"x")

    with pytest.raises(Broken, match=r"^over \d+ calls for 1 bytes$"), bounded(1):
        for_ever(b"a")
    with pytest.raises(Broken, match=r"^\d+ bytes of memory for 1$"), bounded(1):
        bytearray(2_000_000)


def test_a_fault_is_counted_told_and_kept_to_be_tried_again(tmp_path: Path) -> None:
    def attempt(data: bytes) -> None:
        if b"1" in data:
            raise ValueError("one")

    target = Target("some", lambda: [b"0", b"1", b"11"], (), attempt)
    tally = try_all(target, target.samples(), tmp_path)
    assert (tally.tried, tally.lost, tally.invalid) == (3, 2, 0)
    (fault,) = tally.faults.values()
    assert fault.startswith("ValueError in test_readers.py:")
    (kept,) = tmp_path.iterdir()
    assert kept.read_bytes() == b"1"
    assert fault.endswith(f": one ({kept})")


def test_workers_in_processes_of_their_own_come_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parent.parent.parent)
    assert list(tallies(["rpc"], 60, 1, tmp_path)) == [("rpc", Tally(tried=60))]
    ((_, tally),) = tallies(["no target"], 60, 1, tmp_path)
    assert (tally.tried, tally.lost) == (0, 1)
    assert "KeyError: 'no target'" in tally.faults["worker"]
