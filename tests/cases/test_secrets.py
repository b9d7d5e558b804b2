"""Keys of model endpoints: in no file of the home, in no log, in no tool's environment."""

from pathlib import Path

import pytest

from tests.cases.wired import serving
from turnwright.protocol.options import ProviderOptions
from turnwright.testing.chat_answers import call, say
from turnwright.testing.chat_server import ChatServer

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
