"""All the processes that descend from one, and how to end them."""

import os
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import anyio
from anyio.abc import Process

GRACE = 0.3
"""Seconds that processes get between SIGTERM and SIGKILL: an abort is to be over within one."""

FIRST_PAUSE = 0.0005
"""Seconds before descendants are looked at again; each pause is twice as long as the one before."""

LISTINGS = 3
"""How often a process's children are listed at most, while some of them end."""


class Identity(NamedTuple):
    """A process; with its start, it isn't taken for a later one that was given the same pid."""

    pid: int
    started: str


class Relation(NamedTuple):
    """A process and its parent's pid."""

    process: Identity
    parent: int


async def end_tree(leader: Process) -> None:
    """End the leader of a process group, its group and all its descendants, those in other groups too.

    Takes GRACE twice at most; shield it from cancellation.
    """
    tree = descendants({leader.pid})
    _signal(leader.pid, tree, signal.SIGTERM)
    with anyio.move_on_after(GRACE):
        await leader.wait()
        pause = FIRST_PAUSE
        while living(tree):  # the system tells only a parent
            await anyio.sleep(pause)
            pause *= 2
    left = living(tree)
    if left or leader.returncode is None:
        left |= descendants({leader.pid, *(one.pid for one in left)})
    _signal(leader.pid, left, signal.SIGKILL)
    with anyio.move_on_after(GRACE):
        await leader.wait()


def kill_tree(pid: int) -> None:
    """Kill the leader of a process group, its group and all its descendants, whoever's children they are."""
    _signal(pid, descendants({pid}), signal.SIGKILL)


def identity_of(pid: int) -> Identity | None:
    """The live process with a number, on Linux."""
    found = _relation(pid)
    return found and found.process


def descendants(roots: set[int]) -> set[Identity]:
    """The processes below those with the pids `roots`, as it is now."""
    lists = sys.platform == "linux" and kernel_lists_children()
    children = _children_of if lists else _children_by_parent()
    found: set[Identity] = set()
    unvisited = list(roots)
    while unvisited:
        below = children(unvisited.pop()) - found
        found |= below
        unvisited += [child.pid for child in below]
    return found


@cache
def kernel_lists_children() -> bool:
    """Whether there are lists of each process's children, so that no others have to be looked at."""
    return Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _children_of(pid: int) -> set[Identity]:
    """A process's live children. One that ends meanwhile may hide another from the list: it is read again."""
    found: set[Identity] = set()
    for _ in range(LISTINGS):
        listed = _listed_children(pid)
        alive = {relation.process for relation in map(_relation, listed) if relation}
        found |= alive
        if len(alive) == len(listed):
            break
    return found


def _listed_children(pid: int) -> list[int]:
    children: list[int] = []
    with suppress(OSError):  # it has ended meanwhile
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  a Path costs more than that
            with suppress(OSError):
                children += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    return children


def _children_by_parent() -> Callable[[int], set[Identity]]:
    """What finds a process's children among all processes there are."""
    children: defaultdict[int, set[Identity]] = defaultdict(set)
    for process, parent in _all():
        children[parent].add(process)
    return lambda pid: children.get(pid, set())


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


def _relation(pid: int) -> Relation | None:
    try:
        # The fields follow the command's name, which may hold spaces and brackets.
        fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except OSError:  # it has ended meanwhile
        return None
    return None if fields[0] in (b"Z", b"X") else Relation(Identity(pid, fields[19].decode()), int(fields[1]))


def _read(file: str) -> bytes:
    fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC)  # these are many, and short
    try:
        return os.read(fd, 64 * 1024)
    finally:
        os.close(fd)


def _all_by_ps() -> Iterator[Relation]:
    command = ["ps", "-A", "-o", "pid=,ppid=,stat=,lstart="]
    with suppress(OSError):  # without ps, the group is all that can be ended
        for line in subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines():
            pid, parent, state, started = line.split(None, 3)
            if not state.startswith("Z"):
                yield Relation(Identity(int(pid), started), int(parent))
