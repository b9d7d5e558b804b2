"""The tools `grep` and `glob`."""

import os
from collections.abc import Sequence
from itertools import islice, takewhile
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from turnwright.protocol.counted import counted
from turnwright.protocol.messages import ToolDefinition
from turnwright.protocol.permissions import Read
from turnwright.protocol.wire import clean, convert
from turnwright.tools.base import Call, ToolResult, failure
from turnwright.tools.overflow import SHOWN
from turnwright.tools.paths import PATH_SCHEMA, locate
from turnwright.tools.process import check_argument
from turnwright.tools.ripgrep import SearchFailed, search

TIMEOUT = 60.0
"""Seconds that one search may take."""

LONGEST_COLUMN = 1000
"""Characters of a matching line that are shown; longer ones are generated code or data."""

FILES_LIMIT = 128 * 1024
"""Bytes of file names that fit a command line everywhere."""

_HONOURED = "Files that .gitignore names and hidden ones are left out unless `path` leads to them."
_NO_MATCHES = "No matches found."

Count = Annotated[int, Meta(ge=0)]


class GrepArguments(msgspec.Struct, frozen=True):
    """What a model passes to `grep`; the flags are ripgrep's."""

    pattern: str
    path: str | None = None
    glob: str | None = None
    type: str | None = None
    output_mode: Literal["content", "files_with_matches", "count"] = "content"
    ignore_case: bool = field(name="-i", default=False)
    numbered: bool = field(name="-n", default=True)
    after: Count = field(name="-A", default=0)
    before: Count = field(name="-B", default=0)
    around: Count = field(name="-C", default=0)
    multiline: bool = False
    head_limit: Annotated[int, Meta(ge=1)] | None = None

    def __post_init__(self) -> None:
        for name, text in (("pattern", self.pattern), ("glob", self.glob), ("type", self.type)):
            check_argument(name, text or "")

    def flags(self) -> list[str]:
        """The command line for these arguments, without the places to search."""
        flags = [
            f"--max-columns={LONGEST_COLUMN}",
            "--max-columns-preview",
            "--with-filename",
            "--no-heading",
        ]
        match self.output_mode:
            case "content":
                flags.append("--line-number" if self.numbered else "--no-line-number")
                flags.append(f"--after-context={self.after or self.around}")
                flags.append(f"--before-context={self.before or self.around}")
            case "files_with_matches":
                flags.append("--files-with-matches")
            case "count":
                flags.append("--count")
        if self.ignore_case:
            flags.append("--ignore-case")
        if self.multiline:
            flags += ["--multiline", "--multiline-dotall"]
        if self.type is not None:
            flags.append(f"--type={self.type}")
        return [*flags, f"--regexp={self.pattern}"]


class Grep:
    """Searches the content of files."""

    definition = ToolDefinition(
        name="grep",
        description="Searches files for a regular expression, with ripgrep. " + _HONOURED,
        parameters={
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "A regular expression, in ripgrep's syntax."},
                "path": {
                    "type": "string",
                    "description": "File or directory; the working directory unless given.",
                },
                "glob": {
                    "type": "string",
                    "description": "Only files like this: '*.py', 'src/**/*.{ts,tsx}'.",
                },
                "output_mode": {
                    "type": "string",
                    "enum": ["content", "files_with_matches", "count"],
                    "description": "Matching lines (the default), names of files, or counts of lines.",
                },
                "-i": {"type": "boolean", "description": "Ignore case."},
                "-n": {"type": "boolean", "description": "Line numbers; true unless given."},
                "-A": {"type": "integer", "description": "Lines to show after each match."},
                "-B": {"type": "integer", "description": "Lines to show before each match."},
                "-C": {"type": "integer", "description": "Lines to show around each match."},
                "multiline": {"type": "boolean", "description": "Let a match span lines."},
                "head_limit": {"type": "integer", "description": "Show this many lines at most."},
            },
            "required": ["pattern"],
        },
    )
    read_only = True
    terminal = False

    def permission(self, call: Call) -> Read:
        """Ask to read the place that is searched."""
        return _permission(call, convert(call.arguments, GrepArguments).path)

    async def run(self, call: Call) -> ToolResult:
        """Search it; no match is a success."""
        arguments = convert(call.arguments, GrepArguments)
        try:
            place = _place(call, arguments.path)
            places, flags = [place], arguments.flags()
            if arguments.glob is not None:
                # Given the glob itself, ripgrep would search ignored files that match it.
                if "/" in arguments.glob.removeprefix("**/"):
                    places = await _files(call, place, arguments.glob.removeprefix("./"))
                else:
                    flags += [f"--type-add=asked:{arguments.glob.removeprefix('**/')}", "--type=asked"]
            if not places:
                return ToolResult(_NO_MATCHES)
            if sum(map(len, places)) > FILES_LIMIT:
                return failure("glob: too many files match; narrow it, or give a path.")
            found = await search([*flags, "--", *places], cwd=call.cwd, env=call.env, timeout=TIMEOUT)
        except SearchFailed as error:
            return failure(str(error))
        lines = found.output.decode(errors="replace").replace("\r\n", "\n").removesuffix("\n").split("\n")
        return _result(
            lines if found.output else [], _NO_MATCHES, arguments.head_limit, complete=found.complete
        )


class GlobArguments(msgspec.Struct, frozen=True):
    """What a model passes to `glob`."""

    pattern: str
    path: str | None = None

    def __post_init__(self) -> None:
        check_argument("pattern", self.pattern)

    def split(self) -> tuple[str | None, str]:
        """Where to search, and for what below it; an absolute pattern says both."""
        parts = PurePosixPath(self.pattern).parts
        if parts[:1] != ("/",):
            return self.path, self.pattern.removeprefix("./")
        folders = list(takewhile(lambda part: not set(part) & set("*?[{"), parts[:-1]))
        return str(PurePosixPath(*folders)), "/".join(parts[len(folders) :])


class Glob:
    """Finds files by name."""

    definition = ToolDefinition(
        name="glob",
        description="Finds files whose path matches a pattern: '*' stays in one directory, '**' goes through "
        "all of them. " + _HONOURED,
        parameters={
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "For example '**/*.py' or 'src/*.{js,ts}'."},
                "path": {**PATH_SCHEMA, "description": "Where to look; the working directory unless given."},
            },
            "required": ["pattern"],
        },
    )
    read_only = True
    terminal = False

    def permission(self, call: Call) -> Read:
        """Ask to read the directory that is searched."""
        place, _ = convert(call.arguments, GlobArguments).split()
        return _permission(call, place)

    async def run(self, call: Call) -> ToolResult:
        """Search it; no file is a success."""
        place, pattern = convert(call.arguments, GlobArguments).split()
        try:
            files = await _files(call, _place(call, place), pattern)
        except SearchFailed as error:
            return failure(str(error))
        return _result(files, "No files matched the pattern.")


def _permission(call: Call, path: str | None) -> Read:
    real = str(locate(call.cwd, path or ".").real)
    intention = f"Search for files matching pattern in: {real}"
    return Read(intention=intention, path=real, tool_call_id=call.id)


def _place(call: Call, path: str | None) -> str:
    """The place to search as the results are to spell it. Raises SearchFailed."""
    location = locate(call.cwd, path or ".")
    if location.escapes:
        raise SearchFailed(location.refusal)
    if not location.real.exists():
        raise SearchFailed(location.missing)
    return path or "./"


async def _files(call: Call, place: str, pattern: str) -> list[str]:
    """The files below `place` that match and that nothing tells to ignore. Raises SearchFailed.

    Given a glob, ripgrep lists ignored files that match it too; hence the second list.
    """
    root = locate(call.cwd, place).real
    if not root.is_dir():
        raise SearchFailed(f"{place} is not a directory.")
    everything = await _list(call, root)
    matching = await _list(call, root, f"--glob=/{pattern}")
    kept = set(everything)
    prefix = place.rstrip("/") + "/"
    return [prefix + name for name in matching if name in kept]


async def _list(call: Call, root: Path, *flags: str) -> list[str]:
    found = await search(["--files", "--null", *flags, "--", "./"], cwd=root, env=call.env, timeout=TIMEOUT)
    if not found.complete:
        raise SearchFailed("There are too many files to list. Give a path with fewer of them.")
    return [os.fsdecode(name).removeprefix("./") for name in found.output.split(b"\0") if name]


def _result(
    lines: Sequence[str], nothing: str, limit: int | None = None, *, complete: bool = True
) -> ToolResult:
    """The lines that fit, and how many don't."""
    shown: list[str] = []
    room = SHOWN
    for line in islice(lines, limit):
        shown.append(clean(line))
        room -= len(shown[-1].encode()) + 1
        if room < 0:
            shown.pop()
            break
    if left_out := len(lines) - len(shown):
        more = counted(left_out, "line") + ("" if complete else " or more")
        shown.append(f"[... left out: {more}; narrow the search ...]")
    return ToolResult("\n".join(shown) or nothing)
