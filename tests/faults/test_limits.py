"""What makes scripts/faults end with status 1."""

from tests.faults.__main__ import Part


def test_a_part_is_fine_only_when_nothing_was_lost_or_invalid_and_no_limit_was_missed() -> None:
    assert Part(1, 0, "3 s").is_fine
    assert [Part(1, 1).is_fine, Part(1, 0, invalid=1).is_fine, Part(1, 0, missed="3 s, of 2 s").is_fine] == [
        False,
        False,
        False,
    ]
