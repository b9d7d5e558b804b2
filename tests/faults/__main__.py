"""`python -m tests.faults`: force every fault, and print how many were tried and what they lost.

Each part imports what it needs itself: most of them copy this process, and a small one is copied sooner.
"""

import argparse
import logging
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import anyio

from tests.faults import side_by_side
from tests.in_memory import folder_in_memory
from turnwright.protocol.options import Durability

if TYPE_CHECKING:
    from tests.faults.kills import Kill

SESSIONS = 10_000
INSTANTS = 2_000
LOSSES: dict[Durability, int] = {"turn": 2_000, "event": 2_000, "none": 200}
PROCESSES = 200
INPUTS = 100_000
ROUNDS = 3
IN_A_ROW = (1, 3)
ON_DISK = ("processes", "big", "listing", "soak")
"""Parts that are as they are for a user; what the others lose, no disk decides."""


class Part(NamedTuple):
    """What one kind of fault came to; `lost` and `invalid` are 0, and `note` says the rest.

    `invalid` counts requests to the model that a strict server would have refused. `missed` says by how much
    a limit of time was missed, and is empty.
    """

    tried: int
    lost: int
    note: str = ""
    invalid: int = 0
    missed: str = ""

    @property
    def is_fine(self) -> bool:
        """Whether nothing was lost, nothing invalid, and every limit kept."""
        return not (self.lost or self.invalid or self.missed)


def main() -> int:
    """Run the parts that are asked for; 1 when something was lost, or a limit of time was missed."""
    parser = argparse.ArgumentParser(prog="scripts/faults", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="only these")
    parser.add_argument("--every", type=int, default=1, help="try each so-manieth case (default: each one)")
    parser.add_argument("--seed", type=int, help="replay this seed of the simulation, and show what happens")
    given = parser.parse_args()
    logging.disable(logging.WARNING)  # every damaged log is warned of
    if given.seed is not None:
        from tests.simulation import report as simulation

        return 0 if simulation.replay(given.seed, show) else 1
    is_fine = True
    show(f"{'':14} {'tried':>7} {'lost':>5} {'invalid':>7} {'s':>5}")
    names = given.parts or list(PARTS)
    if len(names) > 1:
        return side_by_side.run(names, given.every, show)
    for name in names:
        started = time.perf_counter()
        place = None if name in ON_DISK else folder_in_memory()
        with tempfile.TemporaryDirectory(prefix="turnwright-faults-", dir=place) as folder:
            for part in PARTS[name](Path(folder), given.every):
                took = time.perf_counter() - started
                show(f"{name:14} {part.tried:7} {part.lost:5} {part.invalid:7} {took:5.0f}  {part.note}")
                if part.missed:
                    show(f"  missed: {part.missed}")
                is_fine = is_fine and part.is_fine
    return 0 if is_fine else 1


def show(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def cuts(folder: Path, every: int) -> Iterator[Part]:
    """A log of 100 kB is cut at each byte."""
    from tests.faults import broken_logs

    found = broken_logs.cuts(broken_logs.a_log(), every)
    yield Part(found.tried, found.lost + found.altered)


def flips(folder: Path, every: int) -> Iterator[Part]:
    """A bit of a log of 100 kB is flipped."""
    from tests.faults import broken_logs

    found = broken_logs.flips(broken_logs.a_log(), 20_000 // every)
    note = f"{found.altered} turned an event into another valid one, {found.unseen} of them unseen"
    yield Part(found.tried, found.lost + found.unseen, note)


def disk(folder: Path, every: int) -> Iterator[Part]:
    """The n-th operation on the disk fails, and those after it."""
    from tests.faults.failing_disk import FAULTS, FailingDisk, go_through

    operations = anyio.run(go_through, folder / "whole", FailingDisk(-1, -1)).operations
    for name, error in FAULTS.items():
        tried = lost = told = 0
        for count in IN_A_ROW:
            for number in range(0, operations, every):
                home = folder / f"{name}-{count}-{number}"
                outcome = anyio.run(go_through, home, FailingDisk(error, number, count))
                tried += 1
                told += bool(outcome.errors)
                lost += bool(outcome.faults)
                for fault in outcome.faults:
                    show(f"  operation {number}, {count} in a row: {fault}")
        yield Part(tried, lost, f"{name}: {told} runs ended in an error")


def big(folder: Path, every: int) -> Iterator[Part]:
    """A big log is loaded in the time of decoding its lines, and in little memory."""
    from tests.faults import big_log

    file = folder / "events.jsonl"
    size = big_log.write(file, big_log.EVENTS // every)
    costs = [(big_log.cost(file, bare=True), big_log.cost(file, bare=False)) for _ in range(ROUNDS)]
    bare, loaded = (statistics.median(cost.seconds for cost in each) for each in zip(*costs, strict=True))
    ratio, most = loaded / bare, max(cost.megabytes for _, cost in costs)
    is_missed = every == 1 and ratio > big_log.MOST_OF_BARE  # of a smaller log, more is looked at
    yield Part(
        1,
        int(most > big_log.MOST_MEGABYTES),
        f"{size / 1e6:.0f} MB: {loaded:.2f} s, {ratio:.2f} of a bare decoding, {most:.0f} MB",
        missed=f"{ratio:.2f} of a bare decoding, of {big_log.MOST_OF_BARE}" if is_missed else "",
    )


def listing(folder: Path, every: int) -> Iterator[Part]:
    """Many sessions are listed from the index."""
    from tests.faults.many_sessions import LISTED_IN, list_of

    count = SESSIONS // every
    found = list_of(folder, count)
    took = f"{count} listed: {found.seconds:.2f} s, of {LISTED_IN} s"
    missed = took if found.seconds > LISTED_IN else ""
    yield Part(1, int(not found.is_same), f"{took}; {found.rebuilding:.1f} s with no index", missed=missed)


def simulate(folder: Path, every: int) -> Iterator[Part]:
    """Chance decides what goes wrong in a whole session."""
    from tests.simulation import report as simulation

    found = simulation.survey(range(0, simulation.SEEDS, every), show)
    yield Part(found.tried, found.failed, str(found), found.invalid)


def kills(folder: Path, every: int) -> Iterator[Part]:
    """A runtime is killed at each point of scripted sessions, and another one goes on."""
    from tests.faults import kills as killing
    from tests.faults.sessions import SCENARIOS

    for scenario in SCENARIOS:
        place = folder / scenario.name
        yield tally(killing.at_every_point(scenario, place, every), place, scenario.name)


def instants(folder: Path, every: int) -> Iterator[Part]:
    """A runtime is killed at random instants of those sessions, and another one goes on."""
    from tests.faults import kills as killing
    from tests.faults.sessions import SCENARIOS

    for scenario in SCENARIOS:
        place = folder / scenario.name
        yield tally(
            killing.at_random(scenario, place, INSTANTS // every // len(SCENARIOS)), place, scenario.name
        )


def process(folder: Path, every: int) -> Iterator[Part]:
    """Real processes are killed at random instants, and others go on."""
    from tests.faults import processes

    found = anyio.run(processes.kill_processes, range(0, PROCESSES, every), folder)
    for fault in processes.describe(found):
        show(f"  {fault}")
    bad = [after for after in found.values() if not after.is_fine]
    yield Part(len(found), len(bad), "turnwright --headless --stdio", sum(each.invalid for each in bad))


def power(folder: Path, every: int) -> Iterator[Part]:
    """The power fails while what was not synced is lost, torn and reordered."""
    from tests.faults import power_loss

    for durability, count in LOSSES.items():
        recording = anyio.run(power_loss.record, folder / durability / "home", durability)
        tried = lost = invalid = 0
        for seed in range(0, count, every):
            place = folder / f"{durability}-{seed}"
            found = anyio.run(power_loss.lose_power, recording, seed, place / "home")
            tried += 1
            lost += bool(found.faults)
            invalid += found.invalid
            for fault in found.faults:
                show(f"  {durability}, seed {seed}: {fault}")
            shutil.rmtree(place)
        yield Part(tried, lost, f"durability {durability}", invalid)


def tally(planned: "list[Kill]", folder: Path, note: str) -> Part:
    """Carry kills out, and say what is wrong."""
    from tests.faults.kills import outcomes

    tried = lost = invalid = 0
    for kill, aftermath in outcomes(planned, folder):
        tried += 1
        lost += not aftermath.is_fine
        invalid += aftermath.invalid
        for fault in aftermath.faults:
            show(f"  {kill}: {fault}")
    return Part(tried, lost, note, invalid)


def soaked(folder: Path, every: int) -> Iterator[Part]:
    """Many sessions come and go in one process, and it holds no more than before."""
    from tests.faults import soak

    found = soak.in_a_process(folder, max(soak.SESSIONS // every, soak.FEWEST_SESSIONS))
    failed = found.odd + len(found.grown) + found.is_too_much + (found.idle > soak.MOST_IDLE)
    yield Part(found.sessions, failed, str(found))


def fuzz(folder: Path, every: int) -> Iterator[Part]:
    """What reads the wire, models' answers and logs is fed with what nobody should send."""
    from tests.fuzzing.campaign import TARGETS
    from tests.fuzzing.crew import tallies

    for name, tally in tallies(TARGETS, INPUTS // every, 1, Path(".fuzzing")):
        yield Part(tally.tried, tally.lost, name, tally.invalid)
        for fault in tally.faults.values():
            show(f"  {fault}")


PARTS: dict[str, Callable[[Path, int], Iterator[Part]]] = {
    "cuts": cuts,
    "flips": flips,
    "disk": disk,
    "kills": kills,
    "instants": instants,
    "processes": process,
    "power": power,
    "big": big,
    "listing": listing,
    "simulate": simulate,
    "soak": soaked,
    "fuzz": fuzz,
}

if __name__ == "__main__":
    sys.exit(main())
