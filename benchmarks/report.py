"""The table that people read, and the baseline that it is compared with."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from benchmarks.measures import Measure, Outcome

TOLERANCE = 1.25
"""How much worse than the baseline a measure may be on a shared machine."""

Baseline = Mapping[str, float]


def table(outcomes: Sequence[Outcome], baseline: Baseline) -> str:
    """Return a table in Markdown: medians with their ranges, the bounds, the baseline, and the verdict."""
    head = ("measure", "median [range]", "must", "aim", "baseline", "")
    rows = [head, *(_row(outcome, baseline.get(outcome.measure.reading)) for outcome in outcomes)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(r, widths, strict=True)) + " |"
        for r in rows
    ]
    lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(lines)


def missed(outcomes: Sequence[Outcome]) -> list[str]:
    """The titles of the measures that don't reach what they must."""
    return [
        o.measure.title for o in outcomes if o.measure.must is not None and not _reaches(o, o.measure.must)
    ]


def worse(outcomes: Sequence[Outcome], baseline: Baseline) -> list[str]:
    """The titles of the measures that are worse than their baseline by more than chance."""
    return [
        outcome.measure.title
        for outcome in outcomes
        if outcome.measure.reading in baseline
        and _is_worse(outcome.measure, outcome.median, baseline[outcome.measure.reading])
    ]


def load(path: Path) -> Baseline:
    """Read a baseline; empty when there is none yet."""
    return msgspec.json.decode(path.read_bytes(), type=dict[str, float]) if path.exists() else {}


def save(path: Path, outcomes: Sequence[Outcome], baseline: Baseline) -> None:
    """Write the medians over those of `baseline`."""
    found = {o.measure.reading: float(f"{o.median:.3g}") for o in outcomes if o.measure.keeps}
    path.write_bytes(msgspec.json.format(msgspec.json.encode({**baseline, **found})) + b"\n")


def _row(outcome: Outcome, before: float | None) -> tuple[str, ...]:
    measure = outcome.measure
    unit = measure.unit or measure.against.value
    spread = f"{outcome.median:.3g} [{min(outcome.values):.3g}-{max(outcome.values):.3g}] {unit}"
    verdict = _verdict(outcome)
    if before is not None and _is_worse(measure, outcome.median, before):
        verdict = f"{verdict}, worse than before".removeprefix(", ")
    return measure.title, spread, _bound(measure.must), _bound(measure.aim), _bound(before), verdict


def _verdict(outcome: Outcome) -> str:
    must, aim = outcome.measure.must, outcome.measure.aim
    if aim is not None and _reaches(outcome, aim):
        return "aim"
    if must is None:
        return ""
    return "reached" if _reaches(outcome, must) else "MISSED"


def _reaches(outcome: Outcome, bound: float) -> bool:
    return outcome.measure.reached(outcome.median, bound)


def _is_worse(measure: Measure, value: float, before: float) -> bool:
    if measure.aim is not None and measure.reached(value, measure.aim):
        return False
    return not measure.reached(value, before / TOLERANCE if measure.more_is_better else before * TOLERANCE)


def _bound(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
