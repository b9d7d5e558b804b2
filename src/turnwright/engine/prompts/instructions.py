"""Instruction files: what a repository, a person or the app tells every agent that works there."""

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
    """The nearest folder above that holds a `.git`."""
    for folder in (cwd, *cwd.parents):
        if os.path.exists(f"{folder}/.git"):  # noqa: PTH110  asked for each session; a path takes five times as long
            return folder
    return None


def _all(cwd: Path, home: Path, extra: Iterable[str]) -> Iterator[InstructionSource]:
    yield from _read(home / "copilot-instructions.md", home, "user", "home")
    root = repository_root(cwd) or cwd
    depth = len(cwd.parts) - len(root.parts)
    for folder in reversed((cwd, *cwd.parents)[: depth + 1]):
        yield from _folder(folder, root)
    for named in extra:
        yield from _folder(Path(named), Path(named))


def _folder(folder: Path, root: Path) -> Iterator[InstructionSource]:
    location: Literal["repository", "working-directory"] = (
        "repository" if folder == root else "working-directory"
    )
    for name in NAMES:
        yield from _read(folder / name, root, location, "repo")
    patterns = folder / PATTERN
    for path in sorted(patterns.rglob("*.instructions.md")) if patterns.is_dir() else ():
        yield from _read(path, root, location, "vscode")


def _read(
    path: Path,
    root: Path,
    location: Literal["user", "repository", "working-directory"],
    kind: Literal["home", "repo", "vscode"],
) -> Iterator[InstructionSource]:
    try:
        with open_regular(path) as file:
            content = file.read(LARGEST).decode("utf-8", "replace").strip()
    except OSError:
        return
    if content:
        shown = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
        yield InstructionSource(str(path.resolve()), path.name, shown, location, kind, content)
