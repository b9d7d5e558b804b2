"""Limits and prices of well-known models, from a table that is trimmed from LiteLLM's (`scripts/models`)."""

import ipaddress
from functools import cache
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec

from turnwright.protocol import wire
from turnwright.protocol.prices import Prices

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


class _Table(msgspec.Struct, frozen=True):
    models: dict[str, _Row]


def look_up(model: str, base_url: str | None = None) -> ModelFacts:
    """What the table says of a model: of its host's where that has prices of its own, else of the maker's.

    A server on this machine has no prices: what it serves under a maker's name may be its own.
    """
    host = (urlsplit(base_url).hostname or "") if base_url else ""
    row = _row(model, HOSTS.get(host))
    if row is None:
        return NOTHING
    prices = None
    if row.input is not None and row.output is not None and not _is_here(host):
        prices = Prices(row.input, row.output, row.cache_read, row.cache_write)
    return ModelFacts(row.context_window, row.output_limit, row.vision, prices)


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
