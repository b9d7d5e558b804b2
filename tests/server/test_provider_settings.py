"""Wrong settings of a session's own endpoint are refused when the session is created or resumed."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cases.wired import serving
from turnwright.errors import RequestFailed
from turnwright.providers.scripted import text

pytestmark = pytest.mark.anyio

URL = "http://localhost:1"
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"baseUrl": "localhost:1"}, "provider.baseUrl"),
    ({"baseUrl": URL, "headers": {"X-A": "a\nb"}}, "provider.headers"),
    ({}, "provider"),
    ({"baseUrl": URL, "type": "gemini"}, "provider.type"),
    ({"baseUrl": URL, "wireApi": "chat"}, "provider.wireApi"),
    ({"baseUrl": URL, "type": "anthropic", "wireApi": "responses"}, "provider.wireApi"),
    ({"baseUrl": URL, "transport": "websockets"}, "provider.transport"),
    ({"baseUrl": URL, "apiKey": "a\nb"}, "provider.apiKey"),
    ({"baseUrl": URL, "apiKey": 7}, "provider.apiKey"),
    ({"baseUrl": URL, "bearerToken": "a\nb"}, "provider.bearerToken"),
    ({"baseUrl": URL, "type": "azure", "azure": {"apiVersion": "a&b"}}, "provider.azure.apiVersion"),
    ({"baseUrl": URL, "maxPromptTokens": 0}, "provider.maxPromptTokens"),
    ({"baseUrl": URL, "maxContextWindowTokens": -1}, "provider.maxContextWindowTokens"),
    ({"baseUrl": URL, "maxOutputTokens": 0}, "provider.maxOutputTokens"),
    ({"baseUrl": URL, "prices": {"input": -1, "output": 1}}, "provider.prices.input"),
]


@pytest.mark.parametrize(("provider", "field"), WRONG)
async def test_a_wrong_endpoint_is_refused_by_the_fields_name_and_leaves_no_session(
    tmp_path: Path, provider: dict[str, Any], field: str
) -> None:
    async with serving(tmp_path, [text("hi")]) as server:
        client = server.connect()
        with pytest.raises(RequestFailed, match=rf"(^|failed with message: ){re.escape(field)}: "):
            await client.call("session.create", sessionId="one", provider=provider)
        with pytest.raises(RequestFailed, match="Session not found"):
            await client.call("session.send", sessionId="one", prompt="hello")


@pytest.mark.parametrize("field", ["backgroundCompactionThreshold", "bufferExhaustionThreshold"])
@pytest.mark.parametrize("share", [80, -0.1])
async def test_a_threshold_that_is_no_share_of_the_window_is_refused_by_the_fields_name(
    tmp_path: Path, field: str, share: float
) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        with pytest.raises(RequestFailed, match=rf"infiniteSessions\.{field}"):
            await client.call("session.create", infiniteSessions={field: share})


async def test_a_session_that_is_resumed_with_a_wrong_endpoint_stays_as_it_was(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("hi")]) as server:
        client = server.connect()
        await client.call("session.create", sessionId="one", workingDirectory=str(tmp_path))
        with pytest.raises(RequestFailed, match=re.escape("provider.baseUrl")):
            await client.call("session.resume", sessionId="one", provider={"baseUrl": "nowhere"})
        await client.call("session.send", sessionId="one", prompt="hello")
        await client.until("session.idle")
        assert client.types.count("session.error") == 0
