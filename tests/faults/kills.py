"""A runtime is killed at every point of scripted sessions, and at random instants, and another goes on."""

import gc
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from tests.faults.sessions import ABORT
from turnwright.testing.aftermath import Aftermath
from turnwright.testing.crash import Scenario, count_points, kill_after, kill_at, points
from turnwright.testing.kill_points import Point


class Kill(NamedTuple):
    """How a runtime is killed: at a point, or after so many seconds."""

    scenario: Scenario
    where: Point | float
    continues: bool

    def __str__(self) -> str:
        way = "goes on with what was pending" if self.continues else "interrupts what was pending"
        return f"{self.scenario.name}, {self.where}, {way}"

    def carry_out(self, home: Path) -> Aftermath:
        """Kill it, resume, and look at what has become of the log."""
        if isinstance(self.where, Point):
            return kill_at(self.scenario, home, self.where, continues=self.continues)
        return kill_after(self.scenario, home, self.where, continues=self.continues)


def at_every_point(scenario: Scenario, folder: Path, every: int = 1) -> list[Kill]:
    """Each so-manieth point of a scenario. Every second resume goes on with what was pending, if it can."""
    passed, _ = count_points(scenario, folder / "whole")
    chosen = points(passed)[::every]
    return [Kill(scenario, point, may_continue(scenario, n)) for n, point in enumerate(chosen)]


def at_random(scenario: Scenario, folder: Path, count: int) -> list[Kill]:
    """So many instants of a scenario, the same ones each time as shares of how long it takes here."""
    _, seconds = count_points(scenario, folder / "whole")
    chance = random.Random(scenario.name)
    return [Kill(scenario, chance.uniform(0, seconds), may_continue(scenario, n)) for n in range(count)]


def may_continue(scenario: Scenario, number: int) -> bool:
    """Whether to go on with what was pending: not where that never ends."""
    return number % 2 == 1 and scenario is not ABORT


def outcomes(kills: Sequence[Kill], folder: Path, workers: int = 2) -> Iterator[tuple[Kill, Aftermath]]:
    """Carry kills out, in processes side by side; the folders are removed."""

    def work(share: int) -> list[Aftermath]:
        gc.freeze()  # what each copy has of this process no collection goes through
        found: list[Aftermath] = []
        for number in range(share, len(kills), workers):
            home = folder / str(number)
            found.append(kills[number].carry_out(home))
            shutil.rmtree(home)
        return found

    for share, found in enumerate(side_by_side(work, folder, workers)):
        yield from zip(kills[share::workers], found, strict=True)


def side_by_side(work: Callable[[int], list[Aftermath]], folder: Path, workers: int) -> list[list[Aftermath]]:
    """Do each share of the work in a copy of this process."""
    processes: list[int] = []
    for share in range(workers):
        process = os.fork()
        if not process:
            try:
                (folder / f"share-{share}").write_bytes(msgspec.json.encode(work(share)))
            finally:
                os._exit(0)
        processes.append(process)
    for process in processes:
        os.waitpid(process, 0)
    kind = list[Aftermath]
    return [
        msgspec.json.decode((folder / f"share-{share}").read_bytes(), type=kind) for share in range(workers)
    ]
