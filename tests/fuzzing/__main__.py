"""`python -m tests.fuzzing`: feed readers with what nobody should send, and say what they did with it."""

import argparse
import sys
from pathlib import Path

from tests.fuzzing.campaign import TARGETS
from tests.fuzzing.crew import tallies
from tests.fuzzing.worker import is_guided

FINDINGS = Path(".fuzzing")


def main() -> int:
    """Fuzz the targets that are asked for, or try one input again; 1 when something was found."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument(
        "targets", nargs="*", choices=[[], *TARGETS], metavar="TARGET", help=", ".join(TARGETS)
    )
    parser.add_argument("--inputs", type=int, default=1_000_000, help="for each target (default: a million)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=Path, metavar="FILE", help="try this finding on the target")
    given = parser.parse_args()
    if given.again is not None:
        for name in given.targets:
            TARGETS[name].attempt(given.again.read_bytes())
        return 0
    sys.stdout.write("guided by coverage\n" if is_guided() else "not guided: Atheris is not installed\n")
    faults = 0
    for name, tally in tallies(given.targets or TARGETS, given.inputs, given.seed, FINDINGS):
        sys.stdout.write(f"{name:10} {tally.tried} tried, {tally.lost} lost, {tally.invalid} invalid\n")
        sys.stdout.writelines(f"  {fault}\n" for fault in tally.faults.values())
        sys.stdout.flush()
        faults += tally.lost + tally.invalid
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
