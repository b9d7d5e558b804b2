"""Limits, vision and prices of the model in use: the app's word, the user's, the endpoint's, the table's."""

from typing import Any

import pytest

from turnwright.engine.models.endpoint import DEFAULT_WINDOW, Endpoint
from turnwright.engine.models.endpoints import ConfiguredEndpoints, Defaults
from turnwright.protocol import wire
from turnwright.protocol.options import ProviderOptions, SessionOptions
from turnwright.protocol.prices import LongContext, Prices
from turnwright.providers.base import ModelInfo
from turnwright.providers.model_facts import ModelFacts
from turnwright.providers.open import open_local, open_provider
from turnwright.providers.scripted import Scripted
from turnwright.providers.transport import DIRECT, Route
from turnwright.server.methods.models import describe

pytestmark = pytest.mark.anyio

URL = "https://models.example.com/v1"
SONNET = Prices(3.0, 15.0, 0.3, 3.75)


async def found(options: dict[str, Any], models: dict[str, ModelFacts] | None = None) -> Endpoint:
    """The endpoint of a session with these options; nothing is asked over the network."""
    endpoints = ConfiguredEndpoints(Defaults(models=models or {}), open_provider, open_local)
    try:
        return await endpoints.find(wire.convert(options, SessionOptions), None)
    finally:
        await endpoints.aclose()


def known(endpoint: Endpoint) -> tuple[int, bool, Prices | None, int | None]:
    bound = endpoint.options.max_output_tokens if endpoint.options else None
    return endpoint.window, endpoint.vision, endpoint.prices, bound


async def test_a_well_known_model_has_the_tables_window_and_prices() -> None:
    endpoint = await found({"model": "claude-sonnet-4-5", "provider": {"baseUrl": URL}})
    assert known(endpoint) == (200_000, True, SONNET, None)


async def test_an_unknown_model_has_the_default_window_and_no_price() -> None:
    endpoint = await found({"model": "mine", "provider": {"baseUrl": URL}})
    assert known(endpoint) == (DEFAULT_WINDOW, True, None, None)


async def test_a_deployment_is_known_by_the_model_that_it_is() -> None:
    provider = {"baseUrl": URL, "modelId": "claude-sonnet-4-5", "wireModel": "team-deployment"}
    endpoint = await found({"model": "team", "provider": provider})
    assert (endpoint.wire_model, known(endpoint)) == ("team-deployment", (200_000, True, SONNET, None))


async def test_the_users_word_goes_before_the_table_and_bounds_replies() -> None:
    user = {"claude-sonnet-4-5": ModelFacts(50_000, 900, False)}
    endpoint = await found({"model": "claude-sonnet-4-5", "provider": {"baseUrl": URL}}, user)
    assert known(endpoint) == (50_000, False, SONNET, 900)


async def test_the_apps_word_goes_before_the_users() -> None:
    user = {"claude-sonnet-4-5": ModelFacts(50_000, 900, False, Prices(9, 9))}
    provider = {
        "baseUrl": URL,
        "maxPromptTokens": 10_000,
        "maxOutputTokens": 70,
        "prices": {"input": 1, "output": 2, "cacheRead": 0.5},
    }
    options = {
        "model": "claude-sonnet-4-5",
        "provider": provider,
        "modelCapabilities": {"supports": {"vision": True}},
    }
    assert known(await found(options, user)) == (10_000, True, Prices(1, 2, 0.5), 70)


async def test_a_named_model_is_known_by_its_model_id_and_has_prices_of_its_own() -> None:
    options = {
        "model": "red/deep",
        "providers": [{"name": "red", "baseUrl": URL, "prices": {"input": 1, "output": 1}}],
        "models": [
            {"id": "deep", "provider": "red", "wireModel": "d-1", "modelId": "claude-sonnet-4-5"},
            {"id": "own", "provider": "red", "prices": {"input": 5, "output": 6}},
        ],
    }
    assert known(await found(options)) == (200_000, True, Prices(1, 1), None)
    assert known(await found({**options, "model": "red/own"})) == (DEFAULT_WINDOW, True, Prices(5, 6), None)
    told = {"red/own": ModelFacts(7_000, 80)}
    assert known(await found({**options, "model": "red/own"}, told)) == (7_000, True, Prices(5, 6), 80)


class Listing(Scripted):
    """A provider that lists one model by its name alone, and another with what it is."""

    async def models(self, route: Route = DIRECT) -> list[ModelInfo]:
        supports = {"supports": {"vision": False, "streaming": True}}
        return [
            ModelInfo("claude-sonnet-4-5", "Claude"),
            ModelInfo("mine", "Mine", 9000, vision=False, raw={"capabilities": supports}),
        ]


async def test_a_list_has_what_the_endpoint_says_and_what_is_known_besides() -> None:
    long = LongContext(2, 4, above=5000)
    user = {"mine": ModelFacts(output_limit=700, prices=Prices(1, 2, 0.5, None, long))}
    defaults = Defaults(provider=ProviderOptions(URL), models=user)
    endpoints = ConfiguredEndpoints(defaults, lambda options: Listing(), open_local)
    listed = [describe(info) for info in await endpoints.models(SessionOptions())]
    await endpoints.aclose()
    assert listed == [
        {
            "id": "claude-sonnet-4-5",
            "name": "Claude",
            "capabilities": {
                "supports": {"vision": True},
                "limits": {"max_context_window_tokens": 200_000, "max_output_tokens": 64_000},
            },
            "billing": {
                "tokenPrices": {
                    "batchSize": 1_000_000,
                    "inputPrice": 300.0,
                    "outputPrice": 1500.0,
                    "cacheReadPrice": 30.0,
                    "cacheWritePrice": 375.0,
                }
            },
        },
        {
            "id": "mine",
            "name": "Mine",
            "capabilities": {
                "supports": {"vision": False, "streaming": True},
                "limits": {"max_context_window_tokens": 9000, "max_output_tokens": 700},
            },
            "billing": {
                "tokenPrices": {
                    "batchSize": 1_000_000,
                    "inputPrice": 100.0,
                    "outputPrice": 200.0,
                    "cacheReadPrice": 50.0,
                    "maxPromptTokens": 5000,
                    "longContext": {"inputPrice": 200.0, "outputPrice": 400.0},
                }
            },
        },
    ]


async def test_a_model_taken_from_a_list_that_says_no_more_than_its_name_sees_pictures() -> None:
    defaults = Defaults(provider=ProviderOptions("https://elsewhere.example.com"))
    endpoints = ConfiguredEndpoints(defaults, lambda options: Listing(), open_local)
    endpoint = await endpoints.find(SessionOptions(), None)
    await endpoints.aclose()
    assert (endpoint.model, endpoint.vision, endpoint.prices) == ("claude-sonnet-4-5", True, SONNET)
