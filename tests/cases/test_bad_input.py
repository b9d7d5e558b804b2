"""Wrong input on the wire: an error that names the field, and every session and connection alive."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cases.wired import serving
from turnwright.errors import RequestFailed
from turnwright.protocol import wire
from turnwright.protocol.wire import Json
from turnwright.providers.scripted import text
from turnwright.rpc.transport import Transport

pytestmark = pytest.mark.anyio


async def answered(transport: Transport, message: bytes) -> Json:
    """The answer to a message on a connection where no session lives."""
    await transport.send([message])
    with anyio.fail_after(5):
        received = await transport.receive()
    assert received is not None
    return wire.loads(received)


@pytest.mark.parametrize(
    ("method", "params", "code", "message"),
    [
        ("session.nope", {}, -32601, "Unhandled method session.nope"),
        (
            "session.abort",
            {"sessionId": "gone"},
            -32603,
            "Request session.abort failed with message: Session not found: gone",
        ),
        (
            "session.send",
            {"sessionId": "gone", "prompt": "x"},
            -32603,
            "Request session.send failed with message: Session not found for sessionId: gone",
        ),
        (
            "session.resume",
            {"sessionId": "gone"},
            -32603,
            "Request session.resume failed with message: Session not found: gone",
        ),
        ("session.send", {"sessionId": "it"}, -32602, "Object missing required field `prompt`"),
        ("session.send", {"sessionId": "it", "prompt": 5}, -32602, "prompt: Expected `str`, got `int`"),
        ("session.send", {"sessionId": ["it"]}, -32602, "sessionId: Expected `str`, got `array`"),
        (
            "session.send",
            {"sessionId": "it", "prompt": "x", "mode": "now"},
            -32602,
            "mode: must be enqueue or immediate, not 'now'",
        ),
        (
            "session.mode.set",
            {"sessionId": "it", "mode": "fast"},
            -32602,
            "mode: must be autopilot, interactive or plan, not 'fast'",
        ),
        (
            "session.create",
            {"provider": {"baseUrl": "http://x.example", "wireApi": "chat"}},
            -32602,
            "provider.wireApi: must be completions or responses, not 'chat'",
        ),
        (
            "session.create",
            {"provider": {"baseUrl": 7}},
            -32602,
            "provider.baseUrl: Expected `str`, got `int`",
        ),
        (
            "session.create",
            {"tools": [{"name": "a"}, {"name": None}]},
            -32602,
            "tools[1].name: Expected `str`, got `null`",
        ),
        (
            "session.create",
            {"workingDirectory": "here/below"},
            -32602,
            "workingDirectory: an absolute path is needed: 'here/below'",
        ),
        (
            "session.create",
            {"workingDirectory": "/nonexist"},
            -32602,
            "workingDirectory: there is no such folder: '/nonexist'",
        ),
        (
            "session.resume",
            {"sessionId": "it", "workingDirectory": "/nonexist", "model": "another"},
            -32602,
            "workingDirectory: there is no such folder: '/nonexist'",
        ),
        (
            "session.create",
            {"sessionId": "it"},
            -32602,
            "sessionId: session it is live already",
        ),
    ],
)
async def test_a_request_that_is_wrong_gets_an_error_that_names_the_field(
    tmp_path: Path, method: str, params: dict[str, Any], code: int, message: str
) -> None:
    async with serving(tmp_path, [text("still here")]) as server:
        client = server.connect()
        await client.call("session.create", sessionId="it", workingDirectory=str(tmp_path))
        with pytest.raises(RequestFailed) as refused:
            await client.call(method, **params)
        assert (refused.value.code, str(refused.value)) == (code, message)
        await client.call("session.send", sessionId="it", prompt="there?")
        await client.until("session.idle")


@pytest.mark.parametrize("session_id", ["../it", "a/b", "..", ".", "a.b", "", "a\\b", "it\0", "ü", "x" * 129])
@pytest.mark.parametrize("method", ["session.create", "session.resume", "session.delete"])
async def test_a_session_id_that_could_leave_the_folder_is_refused(
    tmp_path: Path, session_id: str, method: str
) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        await client.call("session.create", sessionId="it", workingDirectory=str(tmp_path))
        if method == "session.create" and not session_id:
            assert (await client.call(method, sessionId=session_id))["sessionId"]  # none given: a new one
            return
        with pytest.raises(RequestFailed) as refused:
            await client.call(method, sessionId=session_id)
        assert refused.value.code == -32602
        assert str(refused.value).startswith("sessionId: must be ")
        assert server.log_of("it").exists()
        in_their_time = {"events.jsonl.sums", "workspace.yaml"}
        found = {entry.name for entry in server.home.rglob("*")} - in_their_time
        assert found == {"session-state", "it", "events.jsonl"}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (b'{"jsonrpc": "2.0", "id": 1,', -32700),
        (b"\xff\xfe", -32700),
        (b"", -32700),
        (b"[]", -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":' + b"[" * 9999 + b"]" * 9999 + b"}", -32700),
    ],
)
async def test_what_is_no_request_is_answered_and_the_connection_and_the_sessions_live_on(
    tmp_path: Path, message: bytes, code: int
) -> None:
    async with serving(tmp_path, [text("still here")]) as server:
        other = server.connect()
        await other.call("session.create", sessionId="it", workingDirectory=str(tmp_path))
        transport = server.open()
        assert (await answered(transport, message))["error"]["code"] == code
        ping = b'{"jsonrpc":"2.0","id":2,"method":"ping","params":{"message":"x"}}'
        assert (await answered(transport, ping))["result"]["message"] == "pong: x"
        await other.call("session.send", sessionId="it", prompt="there?")
        await other.until("session.idle")


async def test_resuming_an_unknown_session_makes_no_new_one(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        for session_id in ("gone", "also-gone"):
            with pytest.raises(RequestFailed):
                await client.call("session.resume", sessionId=session_id)
        assert list(server.home.rglob("*")) == []
        assert await client.call("session.list") == {"sessions": []}
