"""Model calls that a client carries out itself."""

import base64
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cases.wired import serving
from tests.server.carrier import Carrier, errors, said
from tests.server.sessions import prompted, started
from turnwright.errors import RequestFailed
from turnwright.testing.chat_answers import Say, stream
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio

OWN: dict[str, Any] = {"baseUrl": "https://model.invalid/v1", "apiKey": "key-for-the-app-alone"}


async def test_the_client_gets_the_whole_request_and_its_answer_is_the_models(tmp_path: Path) -> None:
    async with serving(tmp_path, None) as server:
        app = Carrier(server)
        await app.register()
        session = await started(app.client, tmp_path, model="m", provider=OWN)
        await prompted(app.client, session, "hello")
        assert said(app.client) == ["hello from the app"]
        head = app.heads[0]
        headers = head.pop("headers")
        assert head == {
            "requestId": head["requestId"],
            "method": "POST",
            "url": "https://model.invalid/v1/chat/completions",
            "transport": "http",
            "sessionId": session,
            "agentId": session,
            "interactionType": "conversation-agent",
        }
        assert headers["authorization"] == ["Bearer key-for-the-app-alone"]
        assert app.bodies[0]["model"] == "m"


async def test_an_answer_may_stream_in_pieces_that_are_binary(tmp_path: Path) -> None:
    async def answer(request_id: str) -> None:
        await app.head(request_id, kind="text/event-stream")
        for piece in stream(Say("grüße, in pieces"), "m", 0, usage=True):
            for part in (piece[:9], piece[9:]):
                await app.chunk(request_id, base64.b64encode(part).decode(), binary=True)
        await app.chunk(request_id, end=True)

    async with serving(tmp_path, None) as server:
        app = Carrier(server)
        app.answer = answer
        await app.register()
        session = await started(app.client, tmp_path, model="m", provider=OWN, streaming=True)
        await prompted(app.client, session, "hello")
        assert said(app.client) == ["grüße, in pieces"]
        assert app.client.types.count("assistant.message_delta") > 1


async def test_an_abort_tells_the_client_and_what_it_says_afterwards_is_not_accepted(tmp_path: Path) -> None:
    begun = anyio.Event()

    async def answer(request_id: str) -> None:
        await app.head(request_id)
        begun.set()

    async with serving(tmp_path, None) as server:
        app = Carrier(server)
        app.answer = answer
        await app.register()
        session = await started(app.client, tmp_path, model="m", provider=OWN)
        await app.client.call("session.send", sessionId=session, prompt="hello")
        with anyio.fail_after(5):
            await begun.wait()
            await app.client.call("session.abort", sessionId=session)
            await app.cancelled.wait()
        await app.client.until("session.idle")
        assert await app.chunk(app.heads[0]["requestId"], "more") == {"accepted": False}
        assert await app.head("never-asked") == {"accepted": False}


async def test_a_client_that_fails_is_asked_again_and_then_the_run_ends_with_its_reason(
    tmp_path: Path,
) -> None:
    async def answer(request_id: str) -> None:
        await app.head(request_id, 502)
        await app.chunk(request_id, end=True, error={"message": "the tunnel is shut"})

    async with serving(tmp_path, None) as server:
        app = Carrier(server)
        app.answer = answer
        await app.register()
        session = await started(app.client, tmp_path, model="m", provider=OWN)
        await prompted(app.client, session, "hello")
        assert errors(app.client) == [
            "the client failed to carry out the request for provider openai at model.invalid: "
            "the tunnel is shut"
        ]
        assert len(app.heads) == app.client.types.count("assistant.turn_start") > 1


async def test_a_client_that_hangs_up_in_the_middle_ends_the_run_of_its_session(tmp_path: Path) -> None:
    begun = anyio.Event()

    async def answer(request_id: str) -> None:
        await app.head(request_id)
        begun.set()

    async with serving(tmp_path, None) as server:
        app, other = Carrier(server), server.connect()
        app.answer = answer
        await app.register()
        session = await started(app.client, tmp_path, model="m", provider=OWN)
        await app.client.call("session.send", sessionId=session, prompt="hello")
        with anyio.fail_after(5):
            await begun.wait()
        await other.call("session.resume", sessionId=session)
        app.client.peer.close()
        await other.until("session.idle")
        assert errors(other) == ["the client that carries out this session's model calls is gone"]


async def test_a_client_that_takes_over_has_the_requests_sent_from_here(tmp_path: Path) -> None:
    async with ChatServer([Say("direct")]) as model, serving(tmp_path, None) as server:
        app = Carrier(server)
        await app.register()
        session = await started(app.client, tmp_path, model="m", provider={"baseUrl": model.base_url})
        await prompted(app.client, session, "hello")
        await app.client.call("session.detach", sessionId=session)
        other = server.connect()
        await other.call("session.resume", sessionId=session)
        await prompted(other, session, "and now?")
        assert said(other) == ["direct"]
        assert len(app.heads) == 1


async def test_the_sessions_of_other_clients_are_sent_from_here(tmp_path: Path) -> None:
    async with ChatServer([Say("direct")]) as model, serving(tmp_path, None) as server:
        app, other = Carrier(server), server.connect()
        await app.register()
        session = await started(other, tmp_path, model="m", provider={"baseUrl": model.base_url})
        await prompted(other, session, "hello")
        assert said(other) == ["direct"]
        assert app.heads == []


async def test_a_piece_that_is_not_base64_costs_one_answer(tmp_path: Path) -> None:
    async with serving(tmp_path, None) as server:
        app = Carrier(server)
        await app.register()
        with pytest.raises(RequestFailed, match="data: must be base64"):
            await app.chunk("any", "é", binary=True)
        session = await started(app.client, tmp_path, model="m", provider=OWN)
        await prompted(app.client, session, "hello")
        assert said(app.client) == ["hello from the app"]
