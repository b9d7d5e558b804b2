"""Diffs: that they say what changed, whatever it is."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from turnwright.tools.diff import created, unchanged, updated

LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=30)


def patched(before: list[str], text: str) -> list[str]:
    """Apply a diff, checking every line that it says is there."""
    after: list[str] = []
    place = 0
    for line in text.split("+++ b/x\n")[1].splitlines():
        if hunk := re.fullmatch(r"@@ -(\d+),\d+ \+(\d+),\d+ @@", line):
            after += before[place : int(hunk[1]) - 1]
            place = int(hunk[1]) - 1
            assert len(after) == int(hunk[2]) - 1
        elif line.startswith("+"):
            after.append(line[1:])
        else:
            assert before[place] == line[1:]
            place += 1
            after += [line[1:]] if line.startswith(" ") else []
    return after + before[place:]


@settings(deadline=None)
@given(before=LINES, after=LINES)
def test_a_diff_applied_to_the_old_gives_the_new(before: list[str], after: list[str]) -> None:
    change = updated("/x", "\n".join(before), "\n".join(after))
    assert patched(before, change.text) == after
    assert change.added - change.removed == len(after) - len(before)


@settings(deadline=None)
@given(head=LINES, old=LINES, new=LINES, tail=LINES)
def test_lines_far_from_a_change_are_left_out(
    head: list[str], old: list[str], new: list[str], tail: list[str]
) -> None:
    far = ["far"] * 50
    before, after = [*far, *head, *old, *tail, *far], [*far, *head, *new, *tail, *far]
    change = updated("/x", "\n".join(before), "\n".join(after))
    assert patched(before, change.text) == after
    assert change.text.count(" far\n") <= 6


def test_a_change_in_a_large_file_is_found_quickly() -> None:
    lines = ["same"] * 300_000
    change = updated("/x", "\n".join(lines), "\n".join([*lines[:150_000], "new", *lines[150_000:]]))
    assert (change.added, change.removed) == (1, 0)


def test_an_empty_new_file_has_no_lines() -> None:
    change = created("/x", "")
    assert (change.text.endswith("+++ b/x\n@@ -1,0 +1,0 @@\n"), change.added) == (True, 0)


def test_a_view_shows_where_its_lines_are() -> None:
    assert unchanged("/x", 2, ["b", "c"]).endswith("+++ b/x\n@@ -2,2 +2,2 @@\n b\n c\n")
