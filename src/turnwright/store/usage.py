"""Tokens, requests and changed lines, summed over a log."""

from contextlib import suppress
from typing import Any

from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.events.session import CodeChanges
from turnwright.protocol.events.tools import ToolComplete
from turnwright.protocol.message_size import CHARACTERS_PER_TOKEN
from turnwright.protocol.prices import CREDIT, nano_credits

SHORTEST_TOKEN, LONGEST_TOKEN = 0.25, 10.0
"""Some scripts take several tokens for a character; servers that count otherwise count something else."""


class Record(wire.Wire):
    """The part of `session.usage_record` that counts.

    Money is `costUsd`: what other runtimes log as `cost` is in premium requests.
    """

    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    duration: float = 0
    cost_usd: float = 0
    input_characters: int = 0


class _LineCounts(wire.Wire):
    lines_added: float = 0
    lines_removed: float = 0


class ModelTotals(wire.Wire):
    """What one model was asked and gave; `cost` is in US dollars."""

    requests: int = 0
    cost: float = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def metrics(self) -> dict[str, Any]:
        """The wire's shape of these totals."""
        return {
            "requests": {"count": self.requests, "cost": self.cost},
            "usage": {
                "inputTokens": self.input_tokens,
                "outputTokens": self.output_tokens,
                "cacheReadTokens": self.cache_read_tokens,
                "cacheWriteTokens": self.cache_write_tokens,
                "reasoningTokens": self.reasoning_tokens,
            },
            "totalNanoAiu": nano_credits(self.cost),
        }


class Usage:
    """Totals of a session; milliseconds for `duration`."""

    def __init__(self) -> None:
        self.models: dict[str, ModelTotals] = {}
        self.duration = 0.0
        self.lines_added = 0
        self.lines_removed = 0
        self.files: dict[str, None] = {}
        self.last: Record | None = None
        self.characters_per_token = CHARACTERS_PER_TOKEN

    def record(self, usage: object) -> None:
        """Add one model call; what doesn't have the shape of a record is passed over."""
        try:
            self.add(wire.convert(usage, Record))
        except InvalidParams:
            return

    def add(self, found: Record) -> None:
        """Add one model call."""
        totals = self.models.get(found.model)
        if totals is None:
            totals = self.models[found.model] = ModelTotals()
        totals.requests += 1
        totals.cost += found.cost_usd
        totals.input_tokens += found.input_tokens
        totals.output_tokens += found.output_tokens
        totals.cache_read_tokens += found.cache_read_tokens
        totals.cache_write_tokens += found.cache_write_tokens
        totals.reasoning_tokens += found.reasoning_tokens
        self.duration += found.duration
        self.last = found
        self._learn(found)

    def _learn(self, found: Record) -> None:
        """How long a token is, by what the model's server counted last; what can't be true isn't believed."""
        if found.input_characters and found.input_tokens:
            length = found.input_characters / found.input_tokens
            if SHORTEST_TOKEN <= length <= LONGEST_TOKEN:
                self.characters_per_token = length

    @property
    def cost(self) -> float:
        """What all model calls cost, in US dollars; 0 for those whose prices aren't known."""
        return sum(model.cost for model in self.models.values())

    @property
    def credits(self) -> float:
        """What all model calls cost, in AI credits."""
        return self.cost / CREDIT

    def edited(self, done: ToolComplete) -> None:
        """Add the lines and files that a call changed."""
        if done.file_edits:
            with suppress(InvalidParams):
                counts = wire.convert(done.tool_telemetry.get("metrics") or {}, _LineCounts)
                self.lines_added += int(counts.lines_added)
                self.lines_removed += int(counts.lines_removed)
            self.files.update(dict.fromkeys(edit.path for edit in done.file_edits))

    def code_changes(self) -> CodeChanges:
        """The wire's shape of the changed lines and files."""
        return CodeChanges(self.lines_added, self.lines_removed, list(self.files))
