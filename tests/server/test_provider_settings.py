"""Wrong settings of a session's own endpoint are refused when the session is created or resumed."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cases.wired import serving
from turnwright.errors import RequestFailed
from turnwright.providers.scripted import text

pytestmark = pytest.mark.anyio

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"baseUrl": "localhost:1"}, "provider.baseUrl"),
    ({"baseUrl": "http://localhost:1", "headers": {"X-A": "a\nb"}}, "provider.headers"),
    ({"baseUrl": "http://localhost:1", "maxOutputTokens": 0}, "provider.maxOutputTokens"),
]


@pytest.mark.parametrize(("provider", "field"), WRONG)
async def test_a_wrong_endpoint_is_refused_by_the_fields_name_and_leaves_no_session(
    tmp_path: Path, provider: dict[str, Any], field: str
) -> None:
    async with serving(tmp_path, [text("hi")]) as server:
        client = server.connect()
        with pytest.raises(RequestFailed, match=re.escape(f"session.create failed with message: {field}")):
            await client.call("session.create", sessionId="one", provider=provider)
        with pytest.raises(RequestFailed, match="Session not found"):
            await client.call("session.send", sessionId="one", prompt="hello")


async def test_a_session_that_is_resumed_with_a_wrong_endpoint_stays_as_it_was(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("hi")]) as server:
        client = server.connect()
        await client.call("session.create", sessionId="one", workingDirectory=str(tmp_path))
        with pytest.raises(RequestFailed, match=re.escape("provider.baseUrl")):
            await client.call("session.resume", sessionId="one", provider={"baseUrl": "nowhere"})
        await client.call("session.send", sessionId="one", prompt="hello")
        await client.until("session.idle")
        assert client.types.count("session.error") == 0
