"""The summaries of a session as files in its folder, `checkpoints/NNN-TITLE.md`."""

import re
from collections.abc import Iterator
from pathlib import Path

from turnwright.protocol.wire import Wire

_NAME = re.compile(r"(\d+)-(.*)\.md")


class Checkpoint(Wire):
    """One summary's file."""

    number: int
    title: str
    filename: str


def write(folder: Path, number: int, summary: str) -> Path:
    """Keep a summary, under the title that the model gave it. Raises OSError."""
    title = re.search("<checkpoint_title>(.*?)</checkpoint_title>", summary, re.DOTALL)
    slug = re.sub("[^a-z0-9]+", "-", title.group(1).lower() if title else "").strip("-")[:60]
    path = folder / "checkpoints" / f"{number:03}-{slug or 'checkpoint'}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(summary, "utf-8", "replace")
    return path


def listed(folder: Path) -> list[Checkpoint]:
    """The checkpoints of a session, the first one first; none where there is no folder. Raises OSError."""
    found = [checkpoint for checkpoint, _ in _all(folder)]
    return sorted(found, key=lambda checkpoint: checkpoint.number)


def read(folder: Path, number: int) -> str | None:
    """A checkpoint's text; None when there is none of that number. Raises OSError."""
    path = next((path for checkpoint, path in _all(folder) if checkpoint.number == number), None)
    return None if path is None else path.read_text("utf-8", "replace")


def prune(folder: Path, newest: int) -> None:
    """Remove the checkpoints after one, as the log tells nothing of them any more. Raises OSError."""
    for checkpoint, path in list(_all(folder)):
        if checkpoint.number > newest:
            path.unlink(missing_ok=True)


def _all(folder: Path) -> Iterator[tuple[Checkpoint, Path]]:
    if not (folder / "checkpoints").is_dir():
        return
    for path in (folder / "checkpoints").iterdir():
        if name := _NAME.fullmatch(path.name):
            yield Checkpoint(int(name[1]), name[2].replace("-", " ").capitalize(), path.name), path
