"""`python -m benchmarks`: our runtime and the floor in turns, then the table."""

import argparse
import asyncio
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks import model_server, report, scenarios
from benchmarks.measures import FLOOR, OURS, Rounds, outcomes
from benchmarks.scenarios import Bench, Scenario

ROOT = Path(__file__).parent.parent
BASELINE = Path(__file__).with_name("baseline.json")
MEMORY = Path("/dev/shm")
PATIENCE = 300
"""Seconds that one scenario may take."""

RUNTIME = ".venv/bin/turnwright --headless --no-auto-update --log-level none --no-auto-login --stdio"


class Planned(NamedTuple):
    """A scenario with what is measured by it: both sides, or ours alone."""

    name: str
    scenario: Scenario
    sides: tuple[str, ...] = (OURS,)


BOTH = (FLOOR, OURS)


def plan(*, full: bool, memory: Path) -> list[Planned]:
    """The scenarios of one round, the short ones first."""
    quick = [
        Planned("start", scenarios.start, BOTH),
        Planned("turns-100", scenarios.turns(100), BOTH),
        Planned("turns-400", scenarios.turns(400), BOTH),
        Planned("stream", scenarios.stream, BOTH),
        Planned("sessions", scenarios.sessions, BOTH),
        Planned("resume", scenarios.resume("9600", events=9_600)),
        Planned("abort", scenarios.abort, BOTH),
        Planned("sync", scenarios.synced(memory)),
        Planned("idle", scenarios.idle(20 if full else 3)),
    ]
    if not full:
        return quick
    compacted = scenarios.resume("100000", events=100_000, text=17_500, compacted=True)
    return [*quick, Planned("long", scenarios.long_session), Planned("compacted", compacted)]


async def measure(
    rounds: Rounds, planned: list[Planned], commands: dict[str, list[str]], folder: Path
) -> None:
    """Do one round; a run that fails is told, and leaves no readings of either side."""
    program = model_server.build(folder)
    for one in planned:
        readings: dict[str, scenarios.Readings] = {}
        for side in one.sides:
            print(f"bench: {one.name}, {side}", file=sys.stderr)  # noqa: T201
            # Homes stay until all is measured: some file systems make files slowly for minutes after many
            # were removed (ext4 without a journal looks at each that was).
            home = Path(tempfile.mkdtemp(dir=folder, prefix="home-"))
            with model_server.running(program) as server:
                try:
                    async with asyncio.timeout(PATIENCE):
                        readings[side] = await one.scenario(Bench(commands[side], home, server))
                except (scenarios.RunFailed, TimeoutError) as error:
                    print(f"bench: {one.name} failed: {error!r}", file=sys.stderr)  # noqa: T201
                    break
        else:
            for side, found in readings.items():
                rounds.add(side, found)


def main() -> int:
    """Run the command line; the status is 1 when something that must be reached is not."""
    options = arguments()
    rounds = Rounds()
    commands = {
        OURS: _absolute(shlex.split(options.runtime)),
        FLOOR: [sys.executable, str(Path(__file__).with_name("floor.py"))],
    }
    folder = Path(tempfile.mkdtemp(prefix="turnwright-bench-"))
    memory = Path(tempfile.mkdtemp(prefix="turnwright-bench-", dir=MEMORY))
    try:
        wanted = [
            one
            for one in plan(full=not options.quick, memory=memory)
            if not options.only or one.name in options.only
        ]
        for _ in range(options.rounds or (3 if options.quick else 5)):
            asyncio.run(measure(rounds, wanted, commands, folder))
    finally:
        shutil.rmtree(folder)
        shutil.rmtree(memory)
    return tell(rounds, options)


def tell(rounds: Rounds, options: argparse.Namespace) -> int:
    """Print what was found; return the exit status."""
    found, baseline = outcomes(rounds), report.load(BASELINE)
    say = print
    say(report.table(found, baseline))
    say(f"\nload average at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if options.readings:
        say(msgspec.json.format(msgspec.json.encode(rounds.everything())).decode())
    if options.save_baseline:
        report.save(BASELINE, found, baseline)
    missed, worse = report.missed(found), report.worse(found, baseline)
    if missed:
        say(f"missed: {'; '.join(missed)}")
    if worse:
        say(f"worse than the baseline: {'; '.join(worse)}")
    return 1 if missed else 0


def arguments() -> argparse.Namespace:
    """The command line's options."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter scenarios, about two minutes")
    parser.add_argument("--rounds", type=int, help="how often each scenario runs; 5, or 3 with --quick")
    names = [one.name for one in plan(full=True, memory=Path(MEMORY))]
    parser.add_argument("--only", action="append", choices=names, help="just this one; may be repeated")
    parser.add_argument("--readings", action="store_true", help="print every reading too, as JSON")
    parser.add_argument("--save-baseline", action="store_true", help="keep the medians for later comparisons")
    parser.add_argument("--runtime", default=RUNTIME, help="the command of the runtime to measure")
    return parser.parse_args()


def _absolute(command: list[str]) -> list[str]:
    """Runtimes are started in another folder, so a program named by a path needs a whole one."""
    program = command[0]
    return [str(ROOT / program) if "/" in program else program, *command[1:]]


if __name__ == "__main__":
    sys.exit(main())
