"""What is known of well-known models, and what it makes of a call's tokens."""

from datetime import date

import pytest

from turnwright.protocol import wire
from turnwright.protocol.messages import Usage
from turnwright.protocol.prices import LongContext, Prices, nano_credits
from turnwright.providers.model_facts import MAKERS, NOTHING, TABLE, ModelFacts, look_up
from turnwright.store.usage import Usage as UsageTotals

SONNET = ModelFacts(200_000, 64_000, True, Prices(3.0, 15.0, 0.3, 3.75))


@pytest.mark.parametrize(
    ("model", "base_url"),
    [
        ("claude-sonnet-4-5", "https://api.anthropic.com"),
        ("claude-sonnet-4.5", "https://models.example.com"),
        ("anthropic/claude-sonnet-4.5", "https://gateway.example.com/v1"),
        ("claude-sonnet-4-5", None),
    ],
)
def test_a_model_is_found_under_each_of_its_usual_names(model: str, base_url: str | None) -> None:
    assert look_up(model, base_url) == SONNET


def test_a_host_with_prices_of_its_own_goes_before_the_maker_and_does_not_borrow_from_it() -> None:
    groq = look_up("openai/gpt-oss-20b", "https://api.groq.com/openai/v1")
    assert groq == ModelFacts(131_072, 65_536, False, Prices(0.075, 0.3, 0.0375))
    assert look_up("claude-sonnet-4-5", "https://api.groq.com/openai/v1") == NOTHING


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/v1", "http://localhost/v1", "http://[::1]:1/v1"])
def test_a_server_on_this_machine_has_limits_but_no_prices(url: str) -> None:
    assert look_up("claude-sonnet-4-5", url) == ModelFacts(200_000, 64_000, True, None)


@pytest.mark.parametrize("model", ["qwen3:8b", "", "claude", "openai/", "models"])
def test_nothing_is_said_of_a_model_that_is_not_in_the_table(model: str) -> None:
    assert look_up(model) == NOTHING


def test_the_table_says_where_it_is_from_and_its_rows_make_sense() -> None:
    table = wire.loads(TABLE.read_bytes())
    assert table["license"].startswith("MIT License")
    assert date.fromisoformat(table["date"]) >= date(2026, 11, 30)
    assert table["version"]
    for name, (window, output, vision, *prices) in table["models"].items():
        if len(prices) > 4:
            above, *long = prices.pop()
            assert above >= 100_000, name
            assert all(price >= plain for price, plain in zip(long[:2], prices[:2], strict=True)), name
        assert window is None or window > 0, name
        assert output is None or output > 0, name
        assert isinstance(vision, bool), name
        assert all(price is None or price >= 0 for price in prices), name
    assert {name.partition("/")[0] for name in table["models"]} >= set(MAKERS)


def test_a_long_request_costs_more_all_of_it_where_the_model_has_a_price_for_that() -> None:
    found = look_up("gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/openai")
    long = LongContext(2.5, 15.0, 0.25, above=200_000)
    prices = Prices(1.25, 10.0, 0.125, None, long)
    assert found.prices == prices
    assert prices.cost(Usage(200_000, 1000, 100_000)) == pytest.approx(0.125 + 0.0125 + 0.01)
    assert prices.cost(Usage(200_001, 1000, 100_000)) == pytest.approx(0.2500025 + 0.025 + 0.015)


def test_facts_are_filled_up_one_by_one() -> None:
    told = ModelFacts(context_window=1000, vision=False)
    assert told.over(SONNET) == ModelFacts(1000, 64_000, False, SONNET.prices)


def test_what_is_in_the_cache_has_prices_of_its_own() -> None:
    usage = Usage(input_tokens=1000, output_tokens=10, cache_read_tokens=600, cache_write_tokens=300)
    assert Prices(3.0, 15.0, 0.3, 3.75).cost(usage) == pytest.approx(
        (100 * 3 + 600 * 0.3 + 300 * 3.75 + 10 * 15) / 1e6
    )
    assert Prices(2.0, 4.0).cost(usage) == pytest.approx((1000 * 2 + 10 * 4) / 1e6)


def test_more_cached_tokens_than_input_cost_nothing_less_than_nothing() -> None:
    odd = Usage(input_tokens=5, cache_read_tokens=10)
    assert Prices(3.0, 15.0, 0.0).cost(odd) == 0


def test_a_dollar_is_a_hundred_credits() -> None:
    assert nano_credits(1.0) == 100_000_000_000


def test_what_another_runtime_logged_as_cost_is_no_money() -> None:
    usage = UsageTotals()
    usage.record({"model": "m", "cost": 1, "inputTokens": 5})
    usage.record({"model": "m", "cost": 0.25, "costUsd": 0.25})
    assert (usage.cost, usage.credits) == (0.25, 25)
