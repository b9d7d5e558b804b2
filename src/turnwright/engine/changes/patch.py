"""Git's patches, parted into those of single files."""

import ast
import re
from collections.abc import Iterable

from turnwright.protocol.wire import clean
from turnwright.protocol.workspace import ChangeType, FileDiff

FILE_LIMIT = 1024 * 1024
"""Characters of the longest diff of a file that is told."""

_START = re.compile(r"^(?=diff --(?:git|cc|combined) )", re.MULTILINE)


def file_diffs(patch: str, *, complete: bool = True) -> list[FileDiff]:
    """The files in a patch; of one that was cut, the last is told without its diff."""
    parts = [part for part in _START.split(patch) if part.startswith("diff --")]
    found = [_file_diff(part.rstrip("\n")) for part in parts]
    if found and not complete:
        found[-1] = left_out(found[-1])
    return _merged(found)


def bounded(change: FileDiff) -> FileDiff:
    """The change, without its diff if that is too long."""
    return change if len(change.diff) <= FILE_LIMIT else left_out(change)


def left_out(change: FileDiff) -> FileDiff:
    """The change without its diff."""
    return FileDiff(change.path, "", change.change_type, change.old_path, is_truncated=True)


def _file_diff(part: str) -> FileDiff:
    head = part.partition("\n@@")[0].splitlines()
    fields = {name: rest for line in head for name, rest in [_field(line)] if name}
    kind: ChangeType = "modified"
    old = None
    if "rename from" in fields:
        kind, old, path = "renamed", unquoted(fields["rename from"]), unquoted(fields["rename to"])
    else:
        path = _name(head[0])
        if "new file mode" in fields:
            kind = "added"
        elif "deleted file mode" in fields:
            kind = "deleted"
    return bounded(FileDiff(path, part, kind, old))


def _field(line: str) -> tuple[str, str]:
    found = re.match("(rename from|rename to|new file mode|deleted file mode) ", line)
    return (found[1], line[found.end() :]) if found else ("", "")


def _name(first: str) -> str:
    """The name in a patch's first line, which is there twice, or once for a merge's."""
    _, kind, rest = first.split(" ", 2)
    if kind != "--git":
        return unquoted(rest)
    return unquoted(rest[: len(rest) // 2]).partition("/")[2]


def unquoted(name: str) -> str:
    """A name as it is: git quotes what isn't plain ASCII as C does, and so does Python."""
    if not name.startswith('"'):
        return name
    found: bytes = ast.literal_eval(f"b{name}")
    return clean(found.decode("utf-8", "surrogateescape"))


def _merged(found: Iterable[FileDiff]) -> list[FileDiff]:
    """One change for each file: one that became a link, or no longer is one, comes as two."""
    by_path: dict[str, FileDiff] = {}
    for change in found:
        if (before := by_path.get(change.path)) is not None:
            change = bounded(FileDiff(change.path, f"{before.diff}\n{change.diff}", "modified"))
        by_path[change.path] = change
    return list(by_path.values())
