"""`turnwright models list`: what there is to choose from, how much it takes and what it costs."""

import importlib.util
from collections.abc import Sequence

import anyio

from turnwright import config
from turnwright.cli.output import show, tell
from turnwright.engine.models.endpoints import ConfiguredEndpoints, Defaults
from turnwright.protocol import wire
from turnwright.protocol.options import SessionOptions
from turnwright.protocol.prices import Prices
from turnwright.protocol.wire import Wire
from turnwright.providers import local_model
from turnwright.providers.base import ModelInfo
from turnwright.providers.open import open_local, open_provider

READY = "ready"
HEAD = ("MODEL", "CONTEXT", "MAX OUTPUT", "$/M INPUT", "$/M OUTPUT")


class Listed(Wire):
    """A model, for programs: limits in tokens, prices in US dollars for a million; absent where nobody says.

    `state` is the local model's: `ready`, or what is to be done to use it.
    """

    id: str
    name: str
    context_window: int | None = None
    max_output_tokens: int | None = None
    vision: bool | None = None
    prices: Prices | None = None
    state: str | None = None


def main(configured: config.Config, *, as_json: bool) -> None:
    """List the models, the local one last. Raises ConfigError or ProviderError."""
    models: list[Listed] = []
    if configured.endpoint is not None:
        models = [_listed(info) for info in anyio.run(models_of, configured, configured.endpoint)]
    else:
        tell("No endpoint is configured: `turnwright doctor` says how to set one.")
    models.append(Listed(config.LOCAL, local_model.MODEL.title, vision=False, state=local_state()))
    if as_json:
        for model in models:
            show(wire.encode(model).decode())
        return
    for row in _aligned([HEAD, *map(_row, models)]):
        show(row)
    show(f"{config.LOCAL} is the {local_model.MODEL.title}: {local_state()}")


async def models_of(configured: config.Config, endpoint: config.Endpoint) -> list[ModelInfo]:
    """The endpoint's models, with all that is known of them. Raises ConfigError or ProviderError."""
    defaults = Defaults(endpoint.options, models=configured.models)
    endpoints = ConfiguredEndpoints(defaults, open_provider, open_local)
    try:
        return await endpoints.models(SessionOptions())
    finally:
        await endpoints.aclose()


def local_state() -> str:
    """Whether the local model can be used, and what to do if not."""
    missing: list[str] = []
    if importlib.util.find_spec("xllamacpp") is None:
        missing.append("pip install 'turnwright[local]'")
    if not local_model.installed():
        missing.append("turnwright models pull")
    return "to use it: " + ", then ".join(missing) if missing else READY


def _listed(info: ModelInfo) -> Listed:
    return Listed(info.id, info.name, info.context_window, info.output_limit, info.vision, info.prices)


def _row(model: Listed) -> tuple[str, ...]:
    limits = [f"{limit:,}" if limit else "-" for limit in (model.context_window, model.max_output_tokens)]
    costs = [_dollars(model.prices.input), _dollars(model.prices.output)] if model.prices else ["-", "-"]
    return (model.id, *limits, *costs)


def _dollars(price: float) -> str:
    """A price with cents, and as many digits beyond as it has."""
    whole, _, cents = f"{price:,.4f}".partition(".")
    return f"{whole}.{cents.rstrip('0'):0<2}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines, names to the left and numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
