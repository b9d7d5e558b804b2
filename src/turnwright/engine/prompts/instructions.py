"""Instruction files: what a repository, a person or the app tells every agent that works there.

They are looked for whenever a session begins, and mostly there are none. Until one is found, names are texts:
paths take five times as long.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from turnwright.protocol.wire import Wire
from turnwright.tools.text_file import open_regular

LARGEST = 64 * 1024
NAMES = ("AGENTS.md", ".github/copilot-instructions.md", "CLAUDE.md")
PATTERN = ".github/instructions"


class InstructionSource(Wire):
    """One file of instructions, in the wire's shape."""

    id: str
    label: str
    source_path: str
    location: Literal["user", "repository", "working-directory"]
    type: Literal["home", "repo", "vscode"]
    content: str


def find(cwd: Path, home: Path, extra: Iterable[str]) -> list[InstructionSource]:
    """All instructions for a session in `cwd`: the user's, the repository's from its root down, the app's."""
    found: dict[Path, InstructionSource] = {}
    for source in _all(cwd, home, extra):
        found.setdefault(Path(source.id), source)
    return list(found.values())


def text(sources: Iterable[InstructionSource]) -> str:
    """The instructions as a section of the system prompt."""
    return "\n\n".join(
        f'<instructions from="{source.source_path}">\n{source.content}\n</instructions>' for source in sources
    )


def repository_root(cwd: Path) -> Path | None:
    """The nearest folder that holds a `.git`, of an absolute path's own and those above it."""
    folder = str(cwd).rstrip("/")
    while not os.access(f"{folder}/.git", os.F_OK):
        if not folder:
            return None
        folder = folder.rpartition("/")[0]
    return Path(folder or "/")


def _all(cwd: Path, home: Path, extra: Iterable[str]) -> Iterator[InstructionSource]:
    yield from _read(f"{home}/copilot-instructions.md", home, "user", "home")
    root = repository_root(cwd) or cwd
    folders = [cwd]
    while folders[-1] != root:
        folders.append(folders[-1].parent)
    for folder in reversed(folders):
        yield from _folder(folder, root)
    for named in extra:
        yield from _folder(Path(named), Path(named))


def _folder(folder: Path, root: Path) -> Iterator[InstructionSource]:
    location: Literal["repository", "working-directory"] = (
        "repository" if folder == root else "working-directory"
    )
    for name in NAMES:
        yield from _read(f"{folder}/{name}", root, location, "repo")
    if os.path.isdir(f"{folder}/{PATTERN}"):  # noqa: PTH112
        for path in sorted((folder / PATTERN).rglob("*.instructions.md")):
            yield from _read(str(path), root, location, "vscode")


def _read(
    name: str,
    root: Path,
    location: Literal["user", "repository", "working-directory"],
    kind: Literal["home", "repo", "vscode"],
) -> Iterator[InstructionSource]:
    try:
        with open_regular(name) as file:
            content = file.read(LARGEST).decode("utf-8", "replace").strip()
    except OSError:
        return
    if content:
        path = Path(name)
        shown = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
        yield InstructionSource(str(path.resolve()), path.name, shown, location, kind, content)
