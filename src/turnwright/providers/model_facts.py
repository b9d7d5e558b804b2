"""Limits and prices of well-known models, from a table that is trimmed from LiteLLM's (`scripts/models`)."""

import ipaddress
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec

from turnwright.protocol import wire
from turnwright.protocol.prices import LongContext, Prices
from turnwright.providers.base import ModelInfo

TABLE = Path(__file__).with_name("model_table.json")

HOSTS = {
    "generativelanguage.googleapis.com": "gemini",
    "api.groq.com": "groq",
    "api.cerebras.ai": "cerebras",
    "api.together.xyz": "together_ai",
}
"""Hosts that serve models under prices of their own."""

MAKERS = ("openai", "anthropic", "gemini", "xai", "deepseek", "mistral", "moonshot", "zai")

T = TypeVar("T")


class ModelFacts(msgspec.Struct, frozen=True):
    """What is known of a model; limits are in tokens, None where nobody says."""

    context_window: int | None = None
    output_limit: int | None = None
    vision: bool | None = None
    prices: Prices | None = None

    def over(self, other: "ModelFacts") -> "ModelFacts":
        """These facts, and the other's where these have none."""
        return ModelFacts(
            _first(self.context_window, other.context_window),
            _first(self.output_limit, other.output_limit),
            _first(self.vision, other.vision),
            _first(self.prices, other.prices),
        )


NOTHING = ModelFacts()


class _Row(msgspec.Struct, frozen=True, array_like=True):
    context_window: int | None
    output_limit: int | None
    vision: bool
    input: float | None
    output: float | None
    cache_read: float | None
    cache_write: float | None
    long_context: tuple[int, float, float, float | None, float | None] | None = None

    @property
    def prices(self) -> Prices | None:
        """What it costs, None where nobody says."""
        if self.input is None or self.output is None:
            return None
        long = None
        if self.long_context is not None:
            above, input, output, read, write = self.long_context
            long = LongContext(input, output, read, write, above=above)
        return Prices(self.input, self.output, self.cache_read, self.cache_write, long)


class _Table(msgspec.Struct, frozen=True):
    models: dict[str, _Row]


@lru_cache(maxsize=256)
def look_up(model: str, base_url: str | None = None) -> ModelFacts:
    """What the table says of a model: of its host's where that has prices of its own, else of the maker's.

    A server on this machine has no prices: what it serves under a maker's name may be its own.
    """
    host = (urlsplit(base_url).hostname or "") if base_url else ""
    row = _row(model, HOSTS.get(host))
    if row is None:
        return NOTHING
    prices = None if _is_here(host) else row.prices
    return ModelFacts(row.context_window, row.output_limit, row.vision, prices)


def facts_of(
    known_as: str, base_url: str | None, *, user: ModelFacts = NOTHING, listed: ModelInfo | None = None
) -> ModelFacts:
    """What holds of a model: the user's word, then what its endpoint lists, then the table's."""
    told = ModelFacts(listed.context_window, listed.output_limit, listed.vision) if listed else NOTHING
    return user.over(told).over(look_up(known_as, base_url))


def _row(model: str, host: str | None) -> _Row | None:
    models = _table().models
    vendors = (host,) if host else MAKERS
    names = [name for given in (model, model.replace(".", "-")) for name in (given, *_of(vendors, given))]
    return next((models[name] for name in names if name in models), None)


def _of(vendors: tuple[str, ...], model: str) -> list[str]:
    return [f"{vendor}/{model}" for vendor in vendors]


@cache
def _table() -> _Table:
    return wire.decode(TABLE.read_bytes(), _Table)


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _first(one: T | None, other: T | None) -> T | None:
    return other if one is None else one
