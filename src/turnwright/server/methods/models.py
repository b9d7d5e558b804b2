"""The models on offer."""

from typing import TYPE_CHECKING, Any

from turnwright.engine.models.inference import Origin
from turnwright.protocol.options import ProviderOptions, SessionOptions
from turnwright.protocol.prices import CREDIT, MILLION, Prices, Rates
from turnwright.protocol.wire import Wire
from turnwright.providers.base import ModelInfo
from turnwright.providers.loose import an_object
from turnwright.providers.transport import Route
from turnwright.server.methods.base import Methods

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table


class ListParams(Wire):
    """Whose models: those that a GitHub token opens, or the configured endpoint's."""

    git_hub_token: str | None = None


@methods.runtime("models.list", ListParams)
async def listing(connection: "Connection", params: ListParams) -> dict[str, Any]:
    """The models of the endpoint that sessions use when they bring none."""
    options = SessionOptions(git_hub_token=params.git_hub_token)

    async def routing(provider: ProviderOptions) -> Route:
        inference = connection.inference
        return Route(carrier=inference.carrier(Origin()) if inference else None)

    found = await connection.runtime.endpoints.models(options, routing)
    return {"models": [describe(info) for info in found]}


def describe(info: ModelInfo) -> dict[str, Any]:
    """A model in the wire's shape: the endpoint's own words, with what else is known."""
    raw = info.raw or {}
    own = an_object(raw.get("capabilities"))
    supports = {**an_object(own.get("supports")), "vision": bool(info.vision)}
    limits = {
        **an_object(own.get("limits")),
        "max_context_window_tokens": info.context_window,
        "max_output_tokens": info.output_limit,
    }
    known = {name: value for name, value in limits.items() if value is not None}
    described = {
        "id": info.id,
        "name": info.name,
        "capabilities": {**own, "supports": supports, "limits": known},
    }
    billing = raw.get("billing") or (_billing(info.prices) if info.prices else None)
    return {**described, "billing": billing} if billing else described


def _billing(prices: Prices) -> dict[str, Any]:
    """Prices in AI credits for a million tokens."""
    tiers: dict[str, Any] = _tier(prices)
    if prices.long_context is not None:
        tiers["maxPromptTokens"] = prices.long_context.above
        tiers["longContext"] = _tier(prices.long_context)
    return {"tokenPrices": {"batchSize": MILLION, **tiers}}


def _tier(rates: Rates) -> dict[str, float]:
    dollars = {
        "inputPrice": rates.input,
        "outputPrice": rates.output,
        "cacheReadPrice": rates.cache_read,
        "cacheWritePrice": rates.cache_write,
    }
    return {name: price / CREDIT for name, price in dollars.items() if price is not None}
