"""What may go wrong, and when: drawn from the seed."""

from collections import Counter
from random import Random

from tests.simulation.trace import Trace

KINDS = (
    "slow",
    "cut",
    "duplicate",
    "reorder",
    "crash",
    "raise",
    "cancel",
    "full",
    "stall",
    "garbage",
    "disconnect",
    "late answer",
    "clock jump",
    "second writer",
)
MOST_KINDS = 6
ODDS = 0.25
"""How often what can go wrong does, where its kind is among those of the seed."""

SCRIPTED = ("crash", "cancel", "full", "disconnect", "clock jump", "second writer")
"""Faults that come at a time; the others come with what they spoil."""
SPAN = 15.0
"""Seconds in which they come."""


class Faults:
    """The faults of one seed: some of the kinds, more or fewer of them."""

    def __init__(self, seed: int, trace: Trace) -> None:
        self._chance = Random(f"{seed} faults")
        self._trace = trace
        self.kinds = frozenset(self._chance.sample(KINDS, self._chance.randint(0, MOST_KINDS)))
        self.struck = Counter[str]()
        self.is_over = False

    def strikes(self, kind: str, where: str, odds: float = ODDS) -> bool:
        """Whether something goes wrong here and now."""
        if kind not in self.kinds or self.is_over or self._chance.random() >= odds:
            return False
        self.note(kind, where)
        return True

    def note(self, kind: str, where: str) -> None:
        """Count a fault."""
        self.struck[kind] += 1
        self._trace.add("fault", f"{kind}: {where}")

    def plan(self) -> list[tuple[float, str]]:
        """The faults that come at a time, with the seconds at which they do."""
        planned = [
            (self._chance.uniform(0, SPAN), kind)
            for kind in SCRIPTED
            if kind in self.kinds
            for _ in range(self._chance.randint(1, 2))
        ]
        return sorted(planned)

    def between(self, least: float, most: float) -> float:
        """A number of the fault's own."""
        return self._chance.uniform(least, most)
