"""What many seeds come to, in a line; and one of them at length."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from tests.simulation.faults import KINDS
from tests.simulation.runner import simulate, simulate_all

SEEDS = 10_000

Show = Callable[[str], None]


class Sum(NamedTuple):
    """Seeds that were tried, those of them in which something was wrong, and what struck how often.

    `invalid` counts what was wrong with requests to the model.
    """

    tried: int
    failed: int
    invalid: int
    struck: Counter[str]
    turns: int

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {self.struck[kind]}" for kind in KINDS)
        return f"{self.turns} turns; {kinds}"


def survey(seeds: Iterable[int], show: Show) -> Sum:
    """Run the seeds over all processors; each that fails is shown with what is wrong, to be replayed."""
    tried = failed = invalid = turns = 0
    struck = Counter[str]()
    for result in simulate_all(seeds):
        tried += 1
        failed += bool(result.problems)
        invalid += result.invalid
        turns += result.turns
        struck.update(result.struck)
        for problem in result.problems[:1]:
            show(f"  seed {result.seed}: {problem.strip()}")
    return Sum(tried, failed, invalid, struck, turns)


def replay(seed: int, show: Show) -> bool:
    """Run one seed again, and show all that happened; whether all was well."""
    result = simulate(seed)
    for line in (*result.trace, *result.problems):
        show(line)
    show(f"seed {seed}: {result.digest}, {len(result.problems)} problems")
    return not result.problems
