"""What is measured, how it is judged, and what must be reached."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median
from typing import NamedTuple

from benchmarks.scenarios import Readings

OURS = "ours"
FLOOR = "floor"


class Against(Enum):
    """What a reading of ours is divided by."""

    FLOOR = "x floor"
    NOTHING = ""


@dataclass(frozen=True)
class Measure:
    """A line of the table: `reading` names what a scenario returns; `must` and `aim` are bounds.

    A bound is an upper one, unless the more the better. A line without bounds is stated beside the rest.
    """

    title: str
    reading: str
    against: Against = Against.NOTHING
    must: float | None = None
    aim: float | None = None
    unit: str = ""
    more_is_better: bool = False

    @property
    def keeps(self) -> bool:
        """Whether its value means the same on another day: milliseconds alone don't."""
        return self.must is not None or self.against is Against.FLOOR

    def values(self, rounds: "Rounds") -> list[float]:
        """The measure's value in each round that has it."""
        ours = rounds.of(OURS, self.reading)
        if self.against is Against.NOTHING:
            return ours
        return [mine / its for mine, its in zip(ours, rounds.of(FLOOR, self.reading), strict=False)]

    def reached(self, value: float, bound: float) -> bool:
        """Whether `value` is as good as `bound` or better."""
        return value >= bound if self.more_is_better else value <= bound


MEASURES = (
    Measure("start to connect answered", "connect_s", Against.FLOOR, 1.5, 1.1),
    Measure("start to first model request", "first_request_s", Against.FLOOR, 1.6, 1.2),
    Measure("peak memory of a one-turn run", "peak_mb", must=60, aim=45, unit="MB"),
    Measure("wall per turn at 100 turns", "turn_100_ms", Against.FLOOR, 3, 2),
    Measure("wall per turn at 400 turns", "turn_400_ms", Against.FLOOR, 3, 2),
    Measure("growth, turns 350-400 over 1-50", "growth_400", must=1.5, aim=1.2, unit="x"),
    Measure("wall per turn at 2,000 over that at 100", "turn_2000_over_100", must=3, aim=2, unit="x"),
    Measure("deltas a second, burst of 20,000", "deltas_per_s", Against.FLOOR, 0.5, 0.8, more_is_better=True),
    Measure(
        "200 sessions x 5 turns, sessions a second",
        "sessions_per_s",
        Against.FLOOR,
        0.4,
        0.7,
        more_is_better=True,
    ),
    Measure("memory for each idle session", "mb_per_session", must=0.2, aim=0.1, unit="MB"),
    Measure("resume of 9,600 events", "resume_9600_over_decoding", must=4, aim=2, unit="x bare decoding"),
    Measure(
        "resume of 100,000 events, compacted",
        "resume_100000_over_decoding",
        must=1,
        aim=0.3,
        unit="x bare decoding",
    ),
    Measure("its peak memory", "resume_100000_peak_mb", must=150, unit="MB"),
    Measure("CPU of an idle process, 100 sessions", "idle_percent", must=0.5, aim=0.1, unit="%"),
    Measure("abort of a running sleep to idle", "abort_over_kill", must=4, aim=2, unit="x bare kill"),
    Measure("the same, over the floor's own abort", "abort_ms", Against.FLOOR),
    Measure("what fsync adds to a turn", "sync_turn_ms", unit="ms"),
    Measure("a bare fsync", "bare_sync_ms", unit="ms"),
    Measure("CPU of a start with one turn", "start_cpu_s", Against.FLOOR),
    Measure("CPU per turn at 100 turns", "turn_100_cpu_ms", Against.FLOOR),
    Measure("CPU per turn at 400 turns", "turn_400_cpu_ms", Against.FLOOR),
    Measure("CPU per delta", "delta_cpu_us", Against.FLOOR),
    Measure("CPU per session of 5 turns", "session_cpu_ms", Against.FLOOR),
)


class Rounds:
    """The readings of all rounds so far."""

    def __init__(self) -> None:
        self._readings: defaultdict[tuple[str, str], list[float]] = defaultdict(list)

    def add(self, who: str, readings: Readings) -> None:
        """Add what one run gave."""
        for name, value in readings.items():
            self._readings[who, name].append(value)

    def of(self, who: str, reading: str) -> list[float]:
        """One reading of each round, oldest first."""
        return self._readings[who, reading]

    def everything(self) -> dict[str, list[float]]:
        """Every reading, by `who.name`."""
        return {f"{who}.{name}": values for (who, name), values in self._readings.items() if values}


class Outcome(NamedTuple):
    """A measure with what was found: the values of all rounds, and their median."""

    measure: Measure
    values: Sequence[float]
    median: float


def outcomes(rounds: Rounds) -> list[Outcome]:
    """Every measure that was taken."""
    found = [(measure, measure.values(rounds)) for measure in MEASURES]
    return [Outcome(measure, values, median(values)) for measure, values in found if values]
