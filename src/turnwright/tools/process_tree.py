"""All the processes that descend from one, and how to end them."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import anyio
from anyio.abc import Process

GRACE = 0.3
"""Seconds that processes get between SIGTERM and SIGKILL: an abort is to be over within one."""


class Identity(NamedTuple):
    """A process; with its start, it isn't taken for a later one that was given the same pid."""

    pid: int
    started: str


async def end_tree(leader: Process) -> None:
    """End the leader of a process group, its group and all its descendants, those in other groups too.

    Takes GRACE twice at most; shield it from cancellation.
    """
    tree = descendants({leader.pid})
    _signal(leader.pid, tree, signal.SIGTERM)
    with anyio.move_on_after(GRACE):
        await leader.wait()
        while tree & _parents().keys():  # noqa: ASYNC110 - the system tells only a parent
            await anyio.sleep(0.01)
    left = tree & _parents().keys()
    _signal(leader.pid, left | descendants({leader.pid, *(one.pid for one in left)}), signal.SIGKILL)
    with anyio.move_on_after(GRACE):
        await leader.wait()


def descendants(roots: set[int]) -> set[Identity]:
    """The processes below those with the pids `roots`, as it is now."""
    children: dict[int, list[Identity]] = {}
    for process, parent in _parents().items():
        children.setdefault(parent, []).append(process)
    found: set[Identity] = set()
    unvisited = list(roots)
    while unvisited:
        below = children.pop(unvisited.pop(), [])
        found.update(below)
        unvisited += [child.pid for child in below]
    return found


def _signal(group: int, processes: Iterable[Identity], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, number)


def _parents() -> dict[Identity, int]:
    """Each live process with its parent's pid; zombies are not alive."""
    return _parents_from_proc() if sys.platform == "linux" else _parents_from_ps()


def _parents_from_proc() -> dict[Identity, int]:
    parents: dict[Identity, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):  # it has ended meanwhile
                # The fields follow the command's name, which may hold spaces and brackets.
                fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
                if fields[0] not in (b"Z", b"X"):
                    parents[Identity(int(folder.name), fields[19].decode())] = int(fields[1])
    return parents


def _parents_from_ps() -> dict[Identity, int]:
    command = ["ps", "-A", "-o", "pid=,ppid=,stat=,lstart="]
    parents: dict[Identity, int] = {}
    with suppress(OSError):  # without ps, the group is all that can be ended
        for line in subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines():
            pid, parent, state, started = line.split(None, 3)
            if not state.startswith("Z"):
                parents[Identity(int(pid), started)] = int(parent)
    return parents
