"""Whose GitHub token a session uses: told for each session, and asked for once for each token."""

from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cases.wired import WireClient, serving
from tests.server.sessions import started
from turnwright.errors import RequestFailed
from turnwright.protocol import wire
from turnwright.protocol.wire import Json
from turnwright.testing.http_listener import HttpRequest, Listener, Responder, listening

pytestmark = pytest.mark.anyio

OWNERS: Mapping[str, Json] = {
    "token-of-ann": {"login": "ann", "copilot_plan": "business", "other": [1]},
    "token-of-ben": {"login": "ben"},
}


class Users:
    """An endpoint that knows the owners of tokens; `asked` counts by token."""

    def __init__(self) -> None:
        self.asked = Counter[str]()
        self.url = ""

    async def answer(self, request: HttpRequest, responder: Responder) -> None:
        """Answer one request."""
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        self.asked[token] += 1
        known = request.path == "/copilot_internal/user" and token in OWNERS
        body = wire.encode(OWNERS[token]) if known else f"who is {token}?".encode()
        await responder.start(200 if known else 401, {"content-type": "application/json"})
        await responder.write(body)
        await responder.end()


@asynccontextmanager
async def users() -> AsyncGenerator[Users, None]:
    """Start such an endpoint."""
    found = Users()
    async with listening(Listener(found.answer, lambda: None)) as port:
        found.url = f"http://127.0.0.1:{port}"
        yield found


async def status(client: WireClient, session: str) -> Json:
    """What a session tells of its user."""
    return await client.call("session.gitHubAuth.getStatus", sessionId=session)


SIGNED_IN: dict[str, Any] = {
    "isAuthenticated": True,
    "authType": "token",
    "host": "https://github.com",
    "statusMessage": "https://github.com (via token)",
}


async def test_each_session_tells_of_its_own_tokens_owner(tmp_path: Path) -> None:
    async with users() as known, serving(tmp_path, users_url=known.url) as server:
        client = server.connect()
        tokens = ("token-of-ann", "token-of-ben", "token-of-ann", None)
        options = [{"gitHubToken": token} if token else {} for token in tokens]
        told = [await status(client, await started(client, tmp_path, **each)) for each in options]
        ann = {**SIGNED_IN, "login": "ann", "copilotPlan": "business"}
        nobody = {"isAuthenticated": False, "statusMessage": "Not authenticated"}
        assert told == [ann, {**SIGNED_IN, "login": "ben"}, ann, nobody]
        assert known.asked == {"token-of-ann": 1, "token-of-ben": 1}


async def test_a_refused_token_makes_no_session_and_is_not_shown(tmp_path: Path) -> None:
    async with users() as known, serving(tmp_path, users_url=known.url) as server:
        client = server.connect()
        with pytest.raises(RequestFailed) as refused:
            await started(client, tmp_path, gitHubToken="a-wrong-token")
        assert str(refused.value) == (
            "Request session.create failed with message: "
            "Failed to fetch Copilot user info: 401 Unauthorized: who is ***?"
        )
        assert not (server.home / "session-state").exists()


async def test_an_endpoint_that_can_not_be_reached_keeps_nobody_from_working(tmp_path: Path) -> None:
    async with serving(tmp_path, users_url="http://127.0.0.1:1") as server:
        client = server.connect()
        session = await started(client, tmp_path, gitHubToken="some-token")
        assert await status(client, session) == SIGNED_IN


async def test_a_session_takes_other_credentials(tmp_path: Path) -> None:
    async with users() as known, serving(tmp_path, users_url=known.url) as server:
        client = server.connect()
        session = await started(client, tmp_path)

        async def become(**credentials: Any) -> Json:
            method = "session.gitHubAuth.setCredentials"
            return await client.call(method, sessionId=session, credentials=credentials)

        answers = [await become(type="env", token="token-of-ben")]
        ben = await status(client, session)
        user: Json = {"login": "cara", "copilot_plan": "individual_pro", "endpoints": {}}
        answers.append(await become(type="user", host="https://example.com", login="cara", copilotUser=user))
        cara = await status(client, session)
        answers.append(await become(type="token", token="a-wrong-token"))
        assert answers == [{"success": True, "copilotUserResolved": known} for known in (True, True, False)]
        assert (ben["authType"], ben["login"]) == ("env", "ben")
        assert cara == {
            "isAuthenticated": True,
            "authType": "user",
            "host": "https://example.com",
            "login": "cara",
            "statusMessage": "https://example.com (via user)",
            "copilotPlan": "individual_pro",
        }
        assert await status(client, session) == SIGNED_IN
