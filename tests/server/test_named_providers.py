"""Several providers in one session, each with models of its own."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cases.wired import serving
from tests.server.sessions import prompted, started
from turnwright.errors import RequestFailed
from turnwright.protocol import wire
from turnwright.testing.answers import Say
from turnwright.testing.azure_server import AzureServer
from turnwright.testing.chat_server import ChatServer
from turnwright.testing.messages_server import MessagesServer
from turnwright.testing.responses_server import ResponsesServer

pytestmark = pytest.mark.anyio

URL = "http://127.0.0.1:9/v1"
RED: dict[str, Any] = {"name": "red", "baseUrl": URL}

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"providers": [{"baseUrl": URL}]}, "providers[0].name"),
    ({"providers": [{"name": "a/b", "baseUrl": URL}]}, "providers[0].name"),
    ({"providers": [RED, RED]}, "providers[1].name: 'red' is taken"),
    ({"providers": [RED, {"name": "blue", "baseUrl": "blue"}]}, "providers[1].baseUrl"),
    (
        {"providers": [RED], "models": [{"id": "m", "provider": "red", "maxOutputTokens": 0}]},
        "models[0].maxOutputTokens",
    ),
    ({"models": [{"id": "m", "provider": "red"}]}, "models[0].provider: there is no provider 'red'"),
    (
        {"providers": [RED], "models": [{"id": "m", "provider": "red"}, {"id": "m", "provider": "red"}]},
        "models[1].id: 'red/m' is taken",
    ),
]


@pytest.mark.parametrize(("options", "field"), WRONG)
async def test_wrong_providers_are_refused_by_the_fields_name(
    tmp_path: Path, options: dict[str, Any], field: str
) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        with pytest.raises(RequestFailed, match=re.escape(field)):
            await client.call("session.create", **options)


async def test_a_model_is_asked_at_its_own_provider_by_the_name_that_this_one_knows(tmp_path: Path) -> None:
    async with (
        ChatServer([Say("from red")], api_key="red-key-0123") as red,
        MessagesServer([Say("from blue")], api_key="blue-key-0123") as blue,
        serving(tmp_path, None) as server,
    ):
        client = server.connect()
        session = await started(
            client,
            tmp_path,
            model="blue/deep",
            providers=[
                {"name": "red", "baseUrl": red.base_url, "apiKey": "red-key-0123"},
                {
                    "name": "blue",
                    "type": "anthropic",
                    "baseUrl": blue.base_url,
                    "apiKey": "blue-key-0123",
                    "headers": {"X-Team": "sea"},
                },
            ],
            models=[
                {"id": "quick", "provider": "red"},
                {"id": "deep", "provider": "blue", "wireModel": "deep-2026", "maxOutputTokens": 77},
            ],
        )
        await prompted(client, session, "hello")
        assert [(r["model"], r["max_tokens"]) for r in blue.requests] == [("deep-2026", 77)]
        assert blue.headers[0]["x-team"] == "sea"
        await client.call("session.model.switchTo", sessionId=session, modelId="red/quick")
        await prompted(client, session, "and now?")
        assert [request["model"] for request in red.requests] == ["quick"]
        assert "x-team" not in red.headers[0]
        assert red.violations == blue.violations == []


async def test_providers_and_models_can_be_added_to_a_session_that_is_under_way(tmp_path: Path) -> None:
    async with ChatServer([Say("one"), Say("two")]) as model, serving(tmp_path, None) as server:
        client = server.connect()
        own = {"name": "own", "baseUrl": model.base_url}
        session = await started(
            client, tmp_path, providers=[own], models=[{"id": "first", "provider": "own"}]
        )
        await prompted(client, session, "hello")
        added = await client.call(
            "session.provider.add",
            sessionId=session,
            providers=[{"name": "more", "baseUrl": model.base_url}],
            models=[
                {"id": "second", "provider": "more", "name": "The second", "maxContextWindowTokens": 9000},
                {"id": "third", "provider": "own"},
            ],
        )
        assert [entry["id"] for entry in added["models"]] == ["more/second", "own/third"]
        assert added["models"][0]["name"] == "The second"
        assert added["models"][0]["capabilities"]["limits"]["max_context_window_tokens"] == 9000
        listed = await client.call("session.model.list", sessionId=session)
        assert [entry["id"] for entry in listed["list"]] == ["own/first", "more/second", "own/third"]
        await client.call("session.model.switchTo", sessionId=session, modelId="more/second")
        await prompted(client, session, "and now?")
        assert [request["model"] for request in model.requests] == ["first", "second"]


async def test_what_cannot_be_added_changes_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, None) as server:
        client = server.connect()
        session = await started(client, tmp_path, providers=[RED], models=[{"id": "m", "provider": "red"}])
        with pytest.raises(RequestFailed, match=re.escape("models[1].provider")):
            await client.call(
                "session.provider.add",
                sessionId=session,
                providers=[{"name": "blue", "baseUrl": URL}],
                models=[{"id": "n", "provider": "blue"}, {"id": "n", "provider": "green"}],
            )
        listed = await client.call("session.model.list", sessionId=session)
        assert [entry["id"] for entry in listed["list"]] == ["red/m"]


async def test_a_model_that_its_provider_does_not_serve_is_an_error_that_says_what_it_serves(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, None) as server:
        client = server.connect()
        session = await started(
            client, tmp_path, model="red/big", providers=[RED], models=[{"id": "small", "provider": "red"}]
        )
        await prompted(client, session, "hello")
        errors = [wire.builtins(e.data)["message"] for e in client.events if e.type == "session.error"]
        assert errors == ["model: 'red/big' is not served; of provider 'red' are: red/small"]


async def test_the_history_stays_valid_while_the_model_is_switched_through_all_four_apis(
    tmp_path: Path,
) -> None:
    (tmp_path / "notes.txt").write_text("a line", encoding="utf-8")
    look = Say(
        "I look.",
        calls=[("view", {"path": "notes.txt"}), ("glob", {"pattern": "*.txt"})],
        reasoning="The file must be read.",
    )
    script = [look, Say("Read.", reasoning="All is read."), look, Say("Again.")]
    async with (
        ChatServer(script) as chat,
        MessagesServer(script) as messages,
        ResponsesServer(script) as responses,
        AzureServer(script) as azure,
        serving(tmp_path, None) as server,
    ):
        servers = {"chat": chat, "messages": messages, "responses": responses, "azure": azure}
        kinds: dict[str, dict[str, Any]] = {
            "chat": {},
            "messages": {"type": "anthropic"},
            "responses": {"wireApi": "responses"},
            "azure": {"type": "azure", "azure": {"apiVersion": "2024-10-21"}},
        }
        client = server.connect()
        session = await started(
            client,
            tmp_path,
            reasoningEffort="low",
            providers=[{"name": n, "baseUrl": s.base_url, **kinds[n]} for n, s in servers.items()],
            models=[{"id": "m", "provider": name} for name in servers],
            allowTools=["read"],
        )
        for name in (*servers, *reversed(servers)):
            await client.call("session.model.switchTo", sessionId=session, modelId=f"{name}/m")
            await prompted(client, session, f"look, {name}")
        assert {name: s.violations for name, s in servers.items()} == {name: [] for name in servers}
        assert {name: len(s.requests) for name, s in servers.items()} == dict.fromkeys(servers, 4)
        assert client.types.count("session.error") == 0


@pytest.mark.parametrize(
    ("kind", "header"),
    [
        ({}, {"Authorization": "Bearer key-to-be-seen"}),
        ({"type": "anthropic"}, {"x-api-key": "key-to-be-seen"}),
        ({"type": "azure"}, {"api-key": "key-to-be-seen"}),
        ({"wireApi": "responses", "transport": "websockets"}, {"Authorization": "Bearer key-to-be-seen"}),
    ],
)
async def test_an_endpoint_is_told_with_its_key_where_the_runtime_allows_it(
    tmp_path: Path, kind: dict[str, str], header: dict[str, str]
) -> None:
    own = {**kind, "name": "own", "baseUrl": URL, "apiKey": "key-to-be-seen", "headers": {"X-Team": "red"}}
    async with serving(tmp_path, None, shows_endpoints=True) as server:
        client = server.connect()
        session = await started(client, tmp_path, providers=[own], models=[{"id": "m", "provider": "own"}])
        told = await client.call("session.provider.getEndpoint", sessionId=session)
        assert told == {
            "type": kind.get("type", "openai"),
            "baseUrl": URL,
            "apiKey": "key-to-be-seen",
            "headers": {"X-Team": "red", **header},
            "transport": kind.get("transport", "http"),
            **({} if kind.get("type") == "anthropic" else {"wireApi": kind.get("wireApi", "completions")}),
        }


async def test_the_endpoint_of_another_model_than_the_sessions_is_told_by_its_name(tmp_path: Path) -> None:
    providers = [{"name": "one", "baseUrl": URL}, {"name": "two", "baseUrl": URL, "type": "anthropic"}]
    models = [{"id": "m", "provider": "one"}, {"id": "m", "provider": "two"}]
    async with serving(tmp_path, None, shows_endpoints=True) as server:
        client = server.connect()
        session = await started(client, tmp_path, model="one/m", providers=providers, models=models)
        told = await client.call("session.provider.getEndpoint", sessionId=session, modelId="two/m")
        assert told == {"type": "anthropic", "baseUrl": URL, "headers": {}, "transport": "http"}
        with pytest.raises(RequestFailed, match="model: 'two/n' is not served; of provider 'two' are: two/m"):
            await client.call("session.provider.getEndpoint", sessionId=session, modelId="two/n")


async def test_an_endpoint_is_not_told_unless_that_is_allowed(tmp_path: Path) -> None:
    async with serving(tmp_path, None) as server:
        client = server.connect()
        session = await started(client, tmp_path, provider={"baseUrl": URL, "apiKey": "key-to-be-seen"})
        with pytest.raises(RequestFailed, match="COPILOT_ALLOW_GET_PROVIDER_ENDPOINT"):
            await client.call("session.provider.getEndpoint", sessionId=session)
