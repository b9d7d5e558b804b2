"""Diffs in git's form, with the headers that the official clients show.

A line is what stands between two newlines, as `view` counts them, so a final newline shows as an
empty last line. Only a new file's diff leaves that line out.
"""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

import msgspec

from turnwright.protocol.wire import clean

CONTEXT = 3


class Diff(msgspec.Struct, frozen=True):
    """A diff of one file, and how many lines it adds and removes."""

    text: str
    added: int
    removed: int


def created(path: str, content: str) -> Diff:
    """The diff of a new file."""
    lines = content.removesuffix("\n").split("\n") if content else []
    header = (
        f"\ndiff --git a{path} b{path}\ncreate file mode 100644\nindex 0000000..0000000\n"
        f"--- a/dev/null\n+++ b{path}\n"
    )
    return _diff(header, [f"@@ -1,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)])


def updated(path: str, before: str, after: str) -> Diff:
    """The diff between two contents of a file, with three lines of context."""
    return _diff(_update_header(path), _hunks(before.split("\n"), after.split("\n")))


def unchanged(path: str, first: int, lines: Sequence[str]) -> str:
    """Lines of a file, the first one's number being `first`, as a diff that changes nothing."""
    span = f"{first},{len(lines)}"
    return _diff(_update_header(path), [f"@@ -{span} +{span} @@", *(f" {line}" for line in lines)]).text


def _update_header(path: str) -> str:
    return f"\ndiff --git a{path} b{path}\nindex 0000000..0000000 100644\n--- a{path}\n+++ b{path}\n"


def _diff(header: str, body: list[str]) -> Diff:
    return Diff(
        text=clean(header + "".join(f"{line}\n" for line in body)),
        added=sum(line.startswith("+") for line in body),
        removed=sum(line.startswith("-") for line in body),
    )


def _hunks(before: list[str], after: list[str]) -> list[str]:
    # An edit leaves most of a file alone; comparing only the rest keeps large files quick.
    same_above = _common(before, after)
    head = max(0, same_above - CONTEXT)
    shorter = min(len(before), len(after)) - same_above
    tail = max(0, min(shorter, _common(reversed(before), reversed(after))) - CONTEXT)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    body: list[str] = []
    for group in SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT):
        _, old_start, _, new_start, _ = group[0]
        _, _, old_end, _, new_end = group[-1]
        old_span = f"{head + old_start + 1},{old_end - old_start}"
        new_span = f"{head + new_start + 1},{new_end - new_start}"
        body.append(f"@@ -{old_span} +{new_span} @@")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                body += [f" {line}" for line in old[i1:i2]]
            else:
                body += [f"-{line}" for line in old[i1:i2]]
                body += [f"+{line}" for line in new[j1:j2]]
    return body


def _common(one: Iterable[str], other: Iterable[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
