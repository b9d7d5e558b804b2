"""Commands that a killed runtime has left running: each is noted while it runs, so that a resume can end it.

On Linux, where it is cheap to tell a process from a later one of the same number. Elsewhere they run on.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from turnwright.errors import InvalidParams
from turnwright.protocol.wire import Wire, decode, encode
from turnwright.tools.process_tree import Identity, identity_of, kill_tree


class _Leader(Wire):
    """The leader of a command's processes; `boot` is that run of the machine."""

    pid: int
    started: str
    boot: str


@contextmanager
def noted(folder: Path | None, pid: int) -> Generator[None]:
    """Have a file in the folder, if there is one, that tells of a process as long as this lasts."""
    note = folder and _write(folder, pid)
    try:
        yield
    finally:
        if note:
            note.unlink(missing_ok=True)


def end_left_over(folder: Path) -> None:
    """Kill what the notes tell of, with all that it started, and remove them.

    What has ended, and what has only the number of such a process, is passed over.
    """
    for note in folder.glob("*.json") if folder.is_dir() else ():
        with suppress(OSError, InvalidParams):
            leader = decode(note.read_bytes(), _Leader)
            if leader.boot == _boot() and identity_of(leader.pid) == Identity(leader.pid, leader.started):
                kill_tree(leader.pid)
        with suppress(OSError):
            note.unlink()


def _write(folder: Path, pid: int) -> Path | None:
    """None where the process has ended, or nothing can be written: a command need not fail for that."""
    if sys.platform != "linux" or (process := identity_of(pid)) is None:
        return None
    note = folder / f"{pid}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        note.write_bytes(encode(_Leader(pid, process.started, _boot())))
    except OSError:
        return None
    return note


def _boot() -> str:
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return f"unknown to {os.getpid()}"
