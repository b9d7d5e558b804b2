"""A small part of what scripts/faults does to logs."""

from pathlib import Path

import pytest

from tests.faults import big_log, broken_logs

LINES = broken_logs.a_log()


def test_a_log_cut_anywhere_is_loaded_as_far_as_it_is_whole() -> None:
    found = broken_logs.cuts(LINES, 499)
    assert found == (found.tried, 0, 0, 0)
    assert found.tried > 200


def test_a_flipped_bit_costs_no_event_but_the_one_that_it_hit() -> None:
    found = broken_logs.flips(LINES, 200)
    assert found.unseen == 0
    assert (found.tried, found.lost) == (200, 0)


def test_a_big_log_is_loaded_in_little_memory(tmp_path: Path) -> None:
    """B100; scripts/faults measures the time."""
    file = tmp_path / "events.jsonl"
    assert big_log.write(file, 20_000) > 40_000_000
    assert big_log.cost(file, bare=False).megabytes < big_log.MOST_MEGABYTES


@pytest.fixture(autouse=True)
def finds_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a process of its own find these modules."""
    monkeypatch.chdir(Path(__file__).parent.parent.parent)
