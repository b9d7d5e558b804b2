"""All the processes that descend from one, and how to end them."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import anyio
from anyio.abc import Process

GRACE = 0.3
"""Seconds that processes get between SIGTERM and SIGKILL: an abort is to be over within one."""


YOUNG = 5.0
"""Seconds in which the system's numbers for processes, 32,768 at least, don't come all the way round."""

MANY = 200
"""So many numbers are looked up faster than all processes."""


class Identity(NamedTuple):
    """A process; with its start, it isn't taken for a later one that was given the same pid."""

    pid: int
    started: str


class Relation(NamedTuple):
    """A process and its parent's pid."""

    process: Identity
    parent: int


async def end_tree(leader: Process, age: float) -> None:
    """End the leader of a process group, its group and all its descendants, those in other groups too.

    `age` is how long ago the leader was started, in seconds. Takes GRACE twice at most; shield it from
    cancellation.
    """
    tree = descendants({leader.pid}, _newer(leader.pid) if age < YOUNG else _all())
    _signal(leader.pid, tree, signal.SIGTERM)
    with anyio.move_on_after(GRACE):
        await leader.wait()
        while living(tree):  # noqa: ASYNC110 - the system tells only a parent
            await anyio.sleep(0.01)
    left = living(tree)
    if left or leader.returncode is None:
        left |= descendants({leader.pid, *(one.pid for one in left)}, _all())
    _signal(leader.pid, left, signal.SIGKILL)
    with anyio.move_on_after(GRACE):
        await leader.wait()


def descendants(roots: set[int], processes: Iterable[Relation] | None = None) -> set[Identity]:
    """The processes below those with the pids `roots`, as it is now."""
    children: dict[int, list[Identity]] = {}
    for process, parent in _all() if processes is None else processes:
        children.setdefault(parent, []).append(process)
    found: set[Identity] = set()
    unvisited = list(roots)
    while unvisited:
        below = children.pop(unvisited.pop(), [])
        found.update(below)
        unvisited += [child.pid for child in below]
    return found


def living(processes: set[Identity]) -> set[Identity]:
    """Those of the processes that have not ended."""
    if not processes:
        return set()
    known = map(_relation, [one.pid for one in processes]) if sys.platform == "linux" else _all()
    return processes & {relation.process for relation in known if relation}


def _signal(group: int, processes: Iterable[Identity], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, number)


def _all() -> Iterator[Relation]:
    """Every live process; zombies are not alive."""
    if sys.platform != "linux":
        return _all_by_ps()
    pids = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]
    return filter(None, map(_relation, pids))


def _newer(pid: int) -> Iterator[Relation]:
    """The live processes that were started after a young one; maybe others too."""
    with suppress(OSError):
        last = int(Path("/proc/loadavg").read_bytes().split()[-1])
        if pid <= last < pid + MANY:
            return filter(None, map(_relation, range(pid + 1, last + 1)))
    return _all()


def _relation(pid: int) -> Relation | None:
    try:
        # The fields follow the command's name, which may hold spaces and brackets.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:  # it has ended meanwhile
        return None
    return None if fields[0] in (b"Z", b"X") else Relation(Identity(pid, fields[19].decode()), int(fields[1]))


def _all_by_ps() -> Iterator[Relation]:
    command = ["ps", "-A", "-o", "pid=,ppid=,stat=,lstart="]
    with suppress(OSError):  # without ps, the group is all that can be ended
        for line in subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines():
            pid, parent, state, started = line.split(None, 3)
            if not state.startswith("Z"):
                yield Relation(Identity(int(pid), started), int(parent))
