"""Keys of model endpoints: in no file of the home, in no log, in no tool's environment."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cases.wired import serving
from turnwright.errors import RequestFailed
from turnwright.protocol.options import ProviderOptions
from turnwright.testing.answers import Send, cut, refuse, send_json
from turnwright.testing.azure_server import AzureServer
from turnwright.testing.chat_answers import call, say
from turnwright.testing.chat_server import ChatServer
from turnwright.testing.messages_server import MessagesServer
from turnwright.testing.model_server import ModelServer
from turnwright.testing.responses_server import ResponsesServer

pytestmark = pytest.mark.anyio

CANARY = "sk-test-CANARY"
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "MY_MODEL_KEY": CANARY, "HARMLESS": "seen"}


def files_with_the_key(folder: Path) -> list[Path]:
    """The files below a folder that hold the key."""
    return [file for file in folder.rglob("*") if file.is_file() and CANARY.encode() in file.read_bytes()]


@pytest.mark.parametrize("of_the_session", [True, False])
async def test_a_key_is_neither_on_the_disk_nor_in_the_environment_of_tools(
    tmp_path: Path, of_the_session: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """B81"""
    caplog.set_level("DEBUG")
    script = [call("bash", {"command": "env"}), say("no secrets there")]
    async with ChatServer(script, api_key=CANARY) as model:
        own = {"provider": {"baseUrl": model.base_url, "apiKey": CANARY}} if of_the_session else {}
        default = None if of_the_session else ProviderOptions(model.base_url, api_key=CANARY)
        async with serving(tmp_path, None, provider=default, environment=ENVIRONMENT) as server:
            client = server.connect()
            await client.call(
                "session.create", sessionId="it", workingDirectory=str(tmp_path), model="test-model", **own
            )
            await client.call("session.permissions.setApproveAll", sessionId="it", enabled=True)
            await client.call("session.send", sessionId="it", prompt="look at the environment")
            await client.until("session.idle")
            assert client.types.count("session.error") == 0
            told = model.requests[1]["messages"][-1]["content"]
            assert "HARMLESS=seen" in told
            assert CANARY not in told
            assert not any(CANARY.encode() in event.encoded for event in client.events)
    assert model.violations == []
    assert files_with_the_key(tmp_path) == []
    assert CANARY not in caplog.text


async def test_a_key_that_a_tool_reads_from_a_file_is_masked(tmp_path: Path) -> None:
    """B81"""
    workspace = tmp_path / "ws"
    workspace.mkdir()
    (workspace / ".env").write_text(f"KEY={CANARY}\n")
    script = [call("view", {"path": ".env"}), say("I see")]
    async with ChatServer(script, api_key=CANARY) as model:
        default = ProviderOptions(model.base_url, api_key=CANARY)
        async with serving(tmp_path, None, provider=default) as server:
            client = server.connect()
            await client.call(
                "session.create", sessionId="it", workingDirectory=str(workspace), model="test-model"
            )
            await client.call("session.send", sessionId="it", prompt="look")
            await client.until("session.idle")
            assert CANARY not in model.requests[1]["messages"][-1]["content"]
    assert files_with_the_key(server.home) == []


async def test_a_refused_key_is_not_told_in_the_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """B81"""
    caplog.set_level("DEBUG")
    async with ChatServer(api_key="another") as model:
        own = {"baseUrl": model.base_url, "apiKey": CANARY, "headers": {"x-key": CANARY}}
        async with serving(tmp_path, None) as server:
            client = server.connect()
            await client.call(
                "session.create",
                sessionId="it",
                workingDirectory=str(tmp_path),
                model="test-model",
                provider=own,
            )
            await client.call("session.send", sessionId="it", prompt="hi")
            await client.until("session.idle")
            assert client.types.count("session.error") == 1
            assert not any(CANARY.encode() in event.encoded for event in client.events)
    assert files_with_the_key(tmp_path) == []
    assert CANARY not in caplog.text


SPOKEN: dict[str, tuple[Callable[..., ModelServer], dict[str, Any]]] = {
    "chat": (ChatServer, {}),
    "responses": (ResponsesServer, {"wireApi": "responses"}),
    "anthropic": (MessagesServer, {"type": "anthropic"}),
    "azure": (AzureServer, {"type": "azure", "azure": {"apiVersion": "2024-10-21"}}),
}
AT_ONCE = {"retry-after": "0"}
FAILURES: dict[str, Send] = {
    **{
        str(status): refuse(status, f"no: {CANARY}", headers=AT_ONCE)
        for status in (400, 401, 402, 403, 404, 408, 413, 429, 500, 501, 529)
    },
    "too long": refuse(400, f"prompt is too long: {CANARY}"),
    "a quota": refuse(429, f"used up: {CANARY}", code="insufficient_quota"),
    "a limit of hours": refuse(429, f"later: {CANARY}", headers={"retry-after": "7200"}),
    "redirected": send_json({}, status=302, headers={"location": f"http://127.0.0.1:9/?key={CANARY}"}),
    "not JSON": Send([f"<html>{CANARY}</html>".encode()], headers={"content-type": "text/html"}),
    "no reply": send_json({"echo": CANARY}),
    "an error in the stream": Send([f'data: {{"error":{{"message":"{CANARY}"}}}}\n\n'.encode()]),
    "a broken stream": cut(f": {CANARY}\n\n".encode()),
    "garbage": Send([f"data: {CANARY}\n\n".encode()]),
}


KEPT_IN: dict[str, dict[str, Any]] = {
    "apiKey": {"apiKey": CANARY},
    "bearerToken": {"bearerToken": CANARY},
    "headers": {"headers": {"x-key": CANARY, "authorization": f"Basic {CANARY}"}},
}


@pytest.mark.parametrize(
    ("api", "kept_in"),
    [*((api, "apiKey") for api in SPOKEN), ("chat", "bearerToken"), ("anthropic", "headers")],
)
async def test_no_failure_of_any_api_tells_the_key(
    tmp_path: Path, api: str, kept_in: str, caplog: pytest.LogCaptureFixture
) -> None:
    """B81: not to clients, not in answers, not in the log, not in the runtime's own lines."""
    caplog.set_level("DEBUG")
    serve, kind = SPOKEN[api]
    failing, answers = "", list[str]()

    def fail(_: object) -> Send:
        return FAILURES[failing]

    async with serve(fail) as model, serving(tmp_path, None) as server:
        client = server.connect()
        provider = {"baseUrl": model.base_url, **KEPT_IN[kept_in], **kind}
        await client.call(
            "session.create", sessionId="it", workingDirectory=str(tmp_path), model="m", provider=provider
        )
        for count, failing in enumerate(FAILURES, 1):
            await client.call("session.send", sessionId="it", prompt="hi")
            await client.until("session.idle", count)
            assert client.types.count("session.error") == count, failing
            for method in ("session.history.compact", "session.history.summarizeForHandoff"):
                try:
                    answers.append(str(await client.call(method, sessionId="it")))
                except RequestFailed as error:
                    answers.append(f"{error} {error.data}")
        for url in (f"http://user:{CANARY}@127.0.0.1:9/v1", f"https://127.0.0.1:9/v1?key={CANARY}"):
            await client.call("session.resume", sessionId="it", provider={**provider, "baseUrl": url})
            idles = client.types.count("session.idle")
            await client.call("session.send", sessionId="it", prompt="hi")
            await client.until("session.idle", idles + 1)
            assert client.types.count("session.error") == idles + 1
        for wrong in ({"baseUrl": f"ftp://{CANARY}@x"}, {"apiKey": f"{CANARY}\n{CANARY}"}):
            with pytest.raises(RequestFailed) as refused:
                await client.call("session.create", sessionId="no", provider={**provider, **wrong})
            assert CANARY not in str(refused.value)
        assert len(answers) == 2 * len(FAILURES)
        assert CANARY not in "".join(answers)
        assert not any(CANARY.encode() in event.encoded for event in client.events)
    assert files_with_the_key(tmp_path) == []
    assert CANARY not in caplog.text
