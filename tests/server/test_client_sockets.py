"""Model calls that a client carries out itself over a websocket."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cases.wired import Server, WireClient, serving
from tests.server.carrier import Carrier, errors, said
from tests.server.sessions import prompted, started
from turnwright.protocol import wire
from turnwright.protocol.wire import Json
from turnwright.testing.answers import Say
from turnwright.testing.responses_answers import events, whole
from turnwright.testing.responses_check import check_responses_request

pytestmark = pytest.mark.anyio

OWN: dict[str, Any] = {
    "baseUrl": "https://model.invalid/v1",
    "apiKey": "key-for-the-app-alone",
    "wireApi": "responses",
    "transport": "websockets",
}


class SocketApp(Carrier):
    """An app that opens each websocket with `status`, and answers the message over it."""

    def __init__(self, server: Server, status: int = 101) -> None:
        super().__init__(server)
        self.status = status
        self.answer = lambda request_id: self.say(request_id, "hello over a socket")

    async def take(self, params: dict[str, Any]) -> object:
        await super().take(params)
        if params["transport"] == "websocket":
            await self.head(params["requestId"], self.status)
        return {}

    async def send(self, request_id: str, messages: Iterable[Json]) -> None:
        for message in messages:
            await self.chunk(request_id, wire.encode(message).decode())

    async def say(self, request_id: str, text: str) -> None:
        await self.send(request_id, events(Say(text), self.bodies[-1], len(self.bodies)))


def ends(client: WireClient) -> list[Json]:
    """What the ends of turns say, but for their ids."""
    return [
        wire.builtins(e.data).get("requestSent", True)
        for e in client.events
        if e.type == "assistant.turn_end"
    ]


def failures(client: WireClient) -> list[tuple[str, int | None]]:
    """By what the calls that failed had travelled, and with which status they came back."""
    told = [wire.builtins(e.data) for e in client.events if e.type == "model.call_failure"]
    return [(data["transport"], data.get("statusCode")) for data in told]


async def test_each_request_is_one_message_over_a_websocket_of_its_own(tmp_path: Path) -> None:
    async with serving(tmp_path, None) as server:
        app = SocketApp(server)
        await app.register()
        session = await started(app.client, tmp_path, model="m", provider=OWN, streaming=True)
        await prompted(app.client, session, "hello")
        await prompted(app.client, session, "and again")
        assert said(app.client) == ["hello over a socket"] * 2
        assert app.client.types.count("assistant.message_delta") > 2
        assert len(app.heads) == len(app.bodies) == app.client.types.count("assistant.turn_start") == 2
        head = app.heads[0]
        headers = head.pop("headers")
        assert head == {
            "requestId": head["requestId"],
            "method": "GET",
            "url": "wss://model.invalid/v1/responses",
            "transport": "websocket",
            "sessionId": session,
            "agentId": session,
            "interactionType": "conversation-agent",
        }
        assert headers["authorization"] == ["Bearer key-for-the-app-alone"]
        for message in app.bodies:
            assert (message.pop("type"), "stream" in message) == ("response.create", False)
            assert check_responses_request(message) == []
        assert await app.chunk(head["requestId"], "more") == {"accepted": False}


async def test_an_error_in_a_message_ends_the_run_with_its_status(tmp_path: Path) -> None:
    error: Json = {"code": "invalid_prompt", "message": "that is no prompt"}

    async def refuse(request_id: str) -> None:
        await app.send(request_id, [{"type": "error", "status": 400, "error": error}])

    async with serving(tmp_path, None) as server:
        app = SocketApp(server)
        app.answer = refuse
        await app.register()
        session = await started(app.client, tmp_path, model="m", provider=OWN)
        await prompted(app.client, session, "hello")
        assert errors(app.client) == [
            "provider openai at model.invalid answered with an error (400): that is no prompt"
        ]
        assert failures(app.client) == [("websocket", 400)]
        assert ends(app.client) == [True]


@pytest.mark.parametrize("error", [None, {"message": "the tunnel fell in"}])
async def test_a_websocket_that_closes_in_the_middle_is_tried_again_as_a_turn(
    tmp_path: Path, error: Json
) -> None:
    async def break_off(request_id: str) -> None:
        app.answer = lambda request_id: app.say(request_id, "the second time")
        whole = list(events(Say("the first time"), app.bodies[-1], 0))
        await app.send(request_id, whole[:-1])
        await app.chunk(request_id, end=True, **({"error": error} if error else {}))

    async with serving(tmp_path, None) as server:
        app = SocketApp(server)
        app.answer = break_off
        await app.register()
        session = await started(app.client, tmp_path, model="m", provider=OWN)
        await prompted(app.client, session, "hello")
        assert said(app.client) == ["the second time"]
        assert failures(app.client) == [("websocket", None)]
        assert ends(app.client) == [True, True]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "the API key of provider openai at model.invalid was refused (401)"),
        (200, "provider openai at model.invalid did not open a websocket (200)"),
    ],
)
async def test_a_websocket_that_is_not_opened_is_an_error_and_nothing_was_sent(
    tmp_path: Path, status: int, message: str
) -> None:
    class Refusing(SocketApp):
        async def take(self, params: dict[str, Any]) -> object:
            await super().take(params)
            await self.chunk(params["requestId"], end=True)
            return {}

    async with serving(tmp_path, None) as server:
        app = Refusing(server, status)
        await app.register()
        session = await started(app.client, tmp_path, model="m", provider=OWN)
        await prompted(app.client, session, "hello")
        assert errors(app.client) == [message]
        assert failures(app.client) == [("websocket", status)]
        assert (ends(app.client), app.bodies) == ([False], [])


async def test_an_abort_closes_the_websocket(tmp_path: Path) -> None:
    begun = anyio.Event()

    async def begin(request_id: str) -> None:
        await app.send(request_id, list(events(Say("hello"), app.bodies[-1], 0))[:3])
        begun.set()

    async with serving(tmp_path, None) as server:
        app = SocketApp(server)
        app.answer = begin
        await app.register()
        session = await started(app.client, tmp_path, model="m", provider=OWN)
        await app.client.call("session.send", sessionId=session, prompt="hello")
        with anyio.fail_after(5):
            await begun.wait()
            await app.client.call("session.abort", sessionId=session)
            await app.cancelled.wait()
        await app.client.until("session.idle")
        assert await app.chunk(app.heads[0]["requestId"], "more") == {"accepted": False}
        assert ends(app.client) == [True]


class GitHubApp(SocketApp):
    """An app that answers for GitHub's endpoint, whose one model is served in the ways `endpoints`."""

    def __init__(self, server: Server, endpoints: list[str]) -> None:
        super().__init__(server)
        self.listing: Json = {"data": [{"id": "m", "supported_endpoints": endpoints}]}
        self.answer = self.give

    async def give(self, request_id: str) -> None:
        head = self.heads[-1]
        if head["transport"] == "websocket":
            await self.say(request_id, "hello")
            return
        answer = self.listing if head["url"].endswith("/models") else whole(Say("hello"), self.bodies[-1], 0)
        await self.head(request_id)
        await self.chunk(request_id, wire.encode(answer).decode(), end=True)


SOCKET = ("GET", "wss://models.invalid/responses", "websocket")
POST = ("POST", "https://models.invalid/responses", "http")


@pytest.mark.parametrize(
    ("endpoints", "options", "way"),
    [
        (["/responses", "ws:/responses"], {}, SOCKET),
        (["/responses", "ws:/responses"], {"capi": {"enableWebSocketResponses": False}}, POST),
        (["/responses"], {"capi": {"enableWebSocketResponses": True}}, POST),
    ],
)
async def test_a_model_of_githubs_is_reached_over_a_websocket_where_its_entry_says_so(
    tmp_path: Path, endpoints: list[str], options: dict[str, Any], way: tuple[str, str, str]
) -> None:
    async with serving(tmp_path, None, api_url="https://models.invalid") as server:
        app = GitHubApp(server, endpoints)
        await app.register()
        session = await started(app.client, tmp_path, gitHubToken="a-token", **options)
        await prompted(app.client, session, "hello")
        assert said(app.client) == ["hello"]
        calls = [head for head in app.heads if not head["url"].endswith("/models")]
        assert [(head["method"], head["url"], head["transport"]) for head in calls] == [way]
