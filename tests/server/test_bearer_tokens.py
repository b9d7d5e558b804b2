"""Bearer tokens that the app's callback gives: one for each request, kept by nobody here."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.cases.wired import serving
from tests.server.sessions import prompted, started
from turnwright.protocol import wire
from turnwright.testing.answers import Say, call
from turnwright.testing.chat_server import ChatServer
from turnwright.testing.messages_server import MessagesServer

pytestmark = pytest.mark.anyio


class Tokens:
    """An app that gives another token each time; `asked` is what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self._numbers = count(1)

    async def give(self, params: dict[str, Any]) -> object:
        self.asked.append(params)
        return {"token": f"fresh-token-{next(self._numbers)}"}


async def test_each_request_brings_a_fresh_token_and_no_key_that_lasts(tmp_path: Path) -> None:
    tokens = Tokens()
    async with (
        MessagesServer([call("glob", {"pattern": "*"}), Say("ok")]) as model,
        serving(tmp_path, None) as server,
    ):
        client = server.connect(serves={"providerToken.getToken": tokens.give})
        provider = {
            "type": "anthropic",
            "baseUrl": model.base_url,
            "apiKey": "lasting-key-0123",
            "hasBearerTokenProvider": True,
        }
        session = await started(client, tmp_path, model="m", provider=provider, allowTools=["read"])
        await prompted(client, session, "hello")
        assert [headers["authorization"] for headers in model.headers] == [
            "Bearer fresh-token-1",
            "Bearer fresh-token-2",
        ]
        assert all("x-api-key" not in headers for headers in model.headers)
        assert tokens.asked == [{"sessionId": session, "providerName": "default"}] * 2
        assert b"fresh-token" not in server.log_of(session).read_bytes()


async def test_the_client_is_asked_for_the_provider_by_its_name(tmp_path: Path) -> None:
    tokens = Tokens()
    async with ChatServer([Say("ok")]) as model, serving(tmp_path, None) as server:
        client = server.connect(serves={"providerToken.getToken": tokens.give})
        session = await started(
            client,
            tmp_path,
            providers=[{"name": "cloud", "baseUrl": model.base_url, "hasBearerTokenProvider": True}],
            models=[{"id": "m", "provider": "cloud"}],
        )
        await prompted(client, session, "hello")
        assert tokens.asked == [{"sessionId": session, "providerName": "cloud"}]


async def fails(params: dict[str, Any]) -> object:
    raise ValueError("the vault is closed")


async def gives_none(params: dict[str, Any]) -> object:
    return {"token": " "}


async def gives_something_else(params: dict[str, Any]) -> object:
    return {"bearer": "x"}


@pytest.mark.parametrize("callback", [fails, gives_none, gives_something_else])
async def test_without_a_token_nothing_is_sent_and_the_error_names_the_provider(
    tmp_path: Path, callback: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with ChatServer([Say("ok")]) as model, serving(tmp_path, None) as server:
        client = server.connect(serves={"providerToken.getToken": callback})
        provider = {"baseUrl": model.base_url, "hasBearerTokenProvider": True}
        session = await started(client, tmp_path, model="m", provider=provider)
        await prompted(client, session, "hello")
        error = next(wire.builtins(e.data) for e in client.events if e.type == "session.error")
        assert error["errorType"] == "authentication"
        assert error["message"].startswith(
            "there is no bearer token for provider default: the client's callback"
        )
        ends = [wire.builtins(e.data) for e in client.events if e.type == "assistant.turn_end"]
        assert [end["requestSent"] for end in ends] == [False]
        assert model.requests == []


async def test_a_refused_token_is_an_error_that_does_not_show_it(tmp_path: Path) -> None:
    tokens = Tokens()
    async with ChatServer([Say("ok")], api_key="the-right-one") as model, serving(tmp_path, None) as server:
        client = server.connect(serves={"providerToken.getToken": tokens.give})
        provider = {"baseUrl": model.base_url, "hasBearerTokenProvider": True}
        session = await started(client, tmp_path, model="m", provider=provider)
        await prompted(client, session, "hello")
        seen = b"".join(event.encoded for event in client.events)
        assert b"authentication" in seen
        assert b"fresh-token" not in seen
