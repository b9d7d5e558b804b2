"""How much a model of Anthropic's shall think: the settings that its generation takes."""

import re

from turnwright.protocol.wire import Json

DEFAULT_OUTPUT_TOKENS = 8192
_SMALLEST_BUDGET = 1024
_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 32000}
_EFFORTS = {"minimal": "low"}
_TAKES_BUDGET = re.compile(r"claude-(3-7|(opus|sonnet|haiku)-4([-.][0-5])?(?![-.]?\d{1,2}\b))")
"""Models before 4.6 know budgets alone, those since 4.7 efforts alone."""


def thinking(model: str, effort: str | None, most: int | None, *, possible: bool) -> dict[str, Json]:
    """Return the fields of a request that bound its output, thinking included.

    `most` is the caller's own bound, in tokens. Thinking is not `possible` with a budget where the last calls
    were made without: the API would refuse their results.
    """
    budget = _BUDGETS.get(effort or "", 0)
    allowed = most or DEFAULT_OUTPUT_TOKENS + budget
    fields: dict[str, Json] = {"max_tokens": allowed}
    if effort is None or effort == "none":
        return fields
    if not _TAKES_BUDGET.search(model):
        fields["thinking"] = {"type": "adaptive", "display": "summarized"}
        fields["output_config"] = {"effort": _EFFORTS.get(effort, effort)}
        return fields
    budget = min(budget, allowed // 2)
    if possible and budget >= _SMALLEST_BUDGET:
        fields["thinking"] = {"type": "enabled", "budget_tokens": budget}
    return fields
