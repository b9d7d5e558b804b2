"""Running seeds: one, or many over all processors."""

import asyncio
import gc
import logging
import multiprocessing
import os
import shutil
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tests.in_memory import folder_in_memory
from tests.simulation.checks import PUT_IN, Outcome
from tests.simulation.clock import Stuck, VirtualLoop, run, simulated
from tests.simulation.world import Complaints, World

AT_ONCE = 20
LONGEST = 60
"""Seconds, real ones, after which a seed is taken to hang."""


class Result(msgspec.Struct):
    """What a seed came to; `problems` is empty when all is well."""

    seed: int
    problems: list[str]
    invalid: int
    digest: str
    trace: list[str]
    struck: dict[str, int]
    turns: int
    events: int


def simulate(seed: int) -> Result:
    """Run one seed from its beginning to the checks."""
    home = Path(tempfile.mkdtemp(prefix="turnwright-simulation-", dir=folder_in_memory()))
    complaints = Complaints()
    logger = logging.getLogger()
    logger.addHandler(complaints)
    worlds: list[World] = []
    problems: list[str] = []
    files = _open_files()

    async def main(loop: VirtualLoop) -> None:
        world = World(seed, home, loop)
        worlds.append(world)
        with simulated(world.clock, world.threads):
            await world.play()
        here = asyncio.current_task()
        problems.extend(f"left running: {task!r}" for task in asyncio.all_tasks() if task is not here)

    try:
        try:
            with _at_most(LONGEST):
                run(main)
        except (Exception, Stuck) as error:  # noqa: BLE001  whatever a seed raises is its result
            problems += traceback.format_exception(error)
        world = worlds[0]
        log = world.log_file.read_bytes() if world.log_file.exists() else b""
        if not problems:
            problems += Outcome(world).problems()
        problems += [text for text in complaints.texts if PUT_IN not in text]
        if _open_files() > files:
            gc.collect()
        if (left := _open_files()) > files:
            problems.append(f"{left - files} files are left open")
        mine = str(home).encode()
        return Result(
            seed,
            problems,
            len(world.model.problems),
            world.trace.digest(log.replace(mine, b"<home>")),
            world.trace.lines,
            dict(world.faults.struck),
            world.model.seen,
            log.count(b"\n"),
        )
    finally:
        logger.removeHandler(complaints)
        shutil.rmtree(home, ignore_errors=True)


def simulate_all(seeds: Iterable[int]) -> Iterator[Result]:
    """Run many seeds over all processors, in no order."""
    with multiprocessing.get_context("spawn").Pool(os.cpu_count(), _prepare) as pool:
        yield from pool.imap_unordered(simulate, seeds, AT_ONCE)


def sum_of(results: Iterable[Result]) -> Counter[str]:
    """How often each kind of fault struck."""
    return sum((Counter(result.struck) for result in results), Counter[str]())


@contextmanager
def _at_most(seconds: float) -> Generator[None]:
    """Raise Stuck in what takes longer, also where it never waits."""

    def stop(number: int, frame: object) -> None:
        raise Stuck(f"there is no end after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _prepare() -> None:
    logging.disable(logging.WARNING)
    gc.freeze()  # the modules, through which each collection would go


def _open_files() -> int:
    folder = Path("/proc/self/fd")
    return sum(1 for _ in folder.iterdir()) if folder.is_dir() else 0
