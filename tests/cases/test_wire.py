"""Clients on the wire: any framing, several of them, gone in the middle, and a home that is emptied."""

import os
import shutil
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import ByteStream

from tests.cases.scene import results
from tests.cases.wired import Server, WireClient, serving
from turnwright.protocol import wire
from turnwright.protocol.events.conversation import AssistantMessage, UserMessage
from turnwright.protocol.events.session import Idle
from turnwright.protocol.messages import Reply
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import Step, calls, text
from turnwright.rpc.descriptors import DescriptorStream
from turnwright.rpc.framing import FRAME_LIMIT, encode
from turnwright.rpc.transport import Framed

pytestmark = pytest.mark.anyio

EXT = [{"name": "ext", "description": "", "skipPermission": True}]


class ByteByByte(ByteStream):
    """A stream that gives one byte for each read."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._held: bytes = b""
        self._next = 0

    async def receive(self, max_bytes: int = 65536) -> bytes:
        if self._next == len(self._held):
            self._held, self._next = await self._stream.receive(), 0
        self._next += 1
        return self._held[self._next - 1 : self._next]

    async def send(self, item: bytes) -> None:
        await self._stream.send(item)

    async def send_eof(self) -> None:
        await self._stream.send_eof()

    async def aclose(self) -> None:
        await self._stream.aclose()


def stream_to(server: Server, *, one_by_one: bool = False) -> ByteStream:
    """Bytes to and from a server, which reads them one by one if told so."""
    ours, theirs = (DescriptorStream(os.dup(end.fileno()), end.detach()) for end in socket.socketpair())
    server.accept(Framed(ByteByByte(theirs) if one_by_one else theirs))
    return ours


async def test_a_megabyte_of_prompt_arrives_whole_though_it_comes_a_byte_at_a_time(tmp_path: Path) -> None:
    """B95"""
    prompt = "1234567890ü" * 95_000
    async with serving(tmp_path, [text("long")]) as server:
        client = server.connect(Framed(stream_to(server, one_by_one=True)))
        await client.call("session.create", sessionId="it", workingDirectory=str(tmp_path))
        await client.call("session.send", sessionId="it", prompt=prompt)
        with anyio.fail_after(20):
            await client.until("session.idle")
        assert [e.data.content for e in client.events if isinstance(e.data, UserMessage)] == [prompt]
        assert prompt in server.model.requests[0].messages[0].content


Requests = Sequence[tuple[str, dict[str, Any]]]


async def sent_at_once(server: Server, requests: Requests) -> WireClient:
    """A client whose first requests arrive in one write."""
    stream = stream_to(server)
    frames = [
        wire.encode({"jsonrpc": "2.0", "id": f"r{n}", "method": method, "params": params})
        for n, (method, params) in enumerate(requests)
    ]
    await stream.send(encode(frames))
    return server.connect(Framed(stream))


async def test_requests_that_arrive_in_one_write_are_served_in_their_order(tmp_path: Path) -> None:
    """B95"""
    requests: Requests = [
        ("session.create", {"sessionId": "it", "workingDirectory": str(tmp_path)}),
        ("session.send", {"sessionId": "it", "prompt": "first"}),
        ("session.send", {"sessionId": "it", "prompt": "second"}),
    ]
    async with serving(tmp_path, [text("one"), text("two")]) as server:
        client = await sent_at_once(server, requests)
        await client.until("session.idle")
        assert [e.data.content for e in client.events if isinstance(e.data, UserMessage)] == [
            "first",
            "second",
        ]


async def test_an_abort_in_one_write_with_its_message_stops_the_run(tmp_path: Path) -> None:
    requests: Requests = [
        ("session.create", {"sessionId": "it", "workingDirectory": str(tmp_path)}),
        ("session.send", {"sessionId": "it", "prompt": "first"}),
        ("session.abort", {"sessionId": "it"}),
    ]
    async with serving(tmp_path, [text("too late")]) as server:
        client = await sent_at_once(server, requests)
        await client.until("session.idle")
        assert client.types.count("user.message") == client.types.count("abort") == 1
        assert [e.data for e in client.events if isinstance(e.data, Idle)] == [Idle(aborted=True)]


async def test_a_frame_of_a_gigabyte_is_refused_before_it_comes(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("still here")]) as server:
        other = server.connect()
        await other.call("session.create", sessionId="it", workingDirectory=str(tmp_path))
        async with stream_to(server) as stream:
            await stream.send(b"Content-Length: 1073741824\r\n\r\n")
            refusal = await Framed(stream).receive()
            assert refusal is not None
            assert wire.loads(refusal)["error"] == {
                "code": -32600,
                "message": f"Content-Length: 1073741824 bytes is over the limit of {FRAME_LIMIT}",
            }
        await other.call("session.send", sessionId="it", prompt="there?")
        await other.until("session.idle")


async def test_a_connection_outlives_a_frame_over_the_limit(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("still here")]) as server:
        stream = stream_to(server)
        client = server.connect(Framed(stream))
        await client.call("session.create", sessionId="it", workingDirectory=str(tmp_path))
        block = bytes(1 << 20)
        await stream.send(b"Content-Length: %d\r\n\r\n" % (FRAME_LIMIT + len(block)))
        for _ in range(FRAME_LIMIT // len(block) + 1):
            await stream.send(block)
        await client.call("session.send", sessionId="it", prompt="there?")
        await client.until("session.idle")


async def test_a_session_that_is_resumed_again_on_a_connection_sends_each_event_once(
    tmp_path: Path,
) -> None:
    """B87"""
    async with serving(tmp_path, [text("hello")]) as server:
        client = server.connect()
        await client.call("session.create", sessionId="it", workingDirectory=str(tmp_path))
        for _ in range(3):
            await client.call("session.resume", sessionId="it")
        await client.call("session.send", sessionId="it", prompt="hi")
        await client.until("session.idle")
        ids = [event.id for event in client.events]
        assert len(ids) == len(set(ids))
        assert client.types.count("session.resume") == 3
        assert client.types.count("assistant.message") == 1


async def test_two_clients_of_a_session_see_the_same_and_the_first_answer_counts(tmp_path: Path) -> None:
    async with serving(tmp_path, [calls(("a", "ext", "{}")), text("fine")]) as server:
        one, two = server.connect(), server.connect()
        await one.call("session.create", sessionId="it", workingDirectory=str(tmp_path), tools=EXT)
        await two.call("session.resume", sessionId="it")
        await two.call("session.send", sessionId="it", prompt="go")
        await one.until("external_tool.requested")
        await two.until("external_tool.requested")
        asked = next(event for event in one.events if event.type == "external_tool.requested")
        request_id = wire.loads(asked.encoded)["data"]["requestId"]
        answer = {"sessionId": "it", "requestId": request_id}
        method = "session.tools.handlePendingToolCall"
        assert await two.call(method, result="from two", **answer) == {"success": True}
        assert await one.call(method, result="from one", **answer) == {"success": False}
        for client in (one, two):
            await client.until("session.idle")
        start = one.types.index("session.resume")
        assert [e.encoded for e in one.events[start:]] == [
            e.encoded for e in two.events[two.types.index("session.resume") :]
        ]
        assert one.types.count("tool.execution_complete") == 1


async def test_a_run_goes_on_and_is_logged_though_its_client_hangs_up(tmp_path: Path) -> None:
    went = anyio.Event()
    done = anyio.Event()

    async def while_nobody_listens(request: ModelRequest) -> Reply:
        await went.wait()
        done.set()
        return text("said to nobody")

    script: list[Step] = [while_nobody_listens, text("and to somebody")]
    async with serving(tmp_path, script) as server:
        stream = stream_to(server)
        client = server.connect(Framed(stream))
        await client.call("session.create", sessionId="it", workingDirectory=str(tmp_path))
        await client.call("session.send", sessionId="it", prompt="go")
        await client.until("assistant.turn_start")
        client.peer.close()
        later = server.connect()
        assert (await later.call("ping"))["message"] == "pong"
        went.set()
        await done.wait()
        await later.call("session.resume", sessionId="it")
        await later.call("session.send", sessionId="it", prompt="and now?")
        await later.until("assistant.message")
        await later.until("session.idle")
        logged = [e.data.content for e in server.logged("it") if isinstance(e.data, AssistantMessage)]
        assert logged == ["said to nobody", "and to somebody"]


async def test_a_home_that_is_emptied_under_a_live_session_gets_its_log_back(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("one"), text("two"), text("new")]) as server:
        client = server.connect()
        await client.call("session.create", sessionId="it", workingDirectory=str(tmp_path))
        await client.call("session.send", sessionId="it", prompt="first")
        await client.until("session.idle")
        shutil.rmtree(server.home)
        await client.call("session.send", sessionId="it", prompt="second")
        await client.until("session.idle", 2)
        assert client.types.count("session.error") == 0
        persisted = [event.encoded for event in client.events if not event.ephemeral]
        assert [event.encoded for event in server.logged("it")] == persisted
        shutil.rmtree(server.home)
        await client.call("session.create", sessionId="other", workingDirectory=str(tmp_path))
        await client.call("session.send", sessionId="other", prompt="hello")
        await client.until("session.idle", 3)
        assert client.types.count("session.error") == 0


async def test_a_home_that_is_emptied_between_sessions_leaves_nothing_to_trip_over(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("one"), text("two")]) as server:
        client = server.connect()
        for session_id in ("one", "two"):
            await client.call("session.create", sessionId=session_id, workingDirectory=str(tmp_path))
            await client.call("session.send", sessionId=session_id, prompt="hello")
            await client.until("session.idle", 1 if session_id == "one" else 2)
            await client.call("session.destroy", sessionId=session_id)
            shutil.rmtree(server.home)
            assert await client.call("session.list") == {"sessions": []}
        assert client.types.count("session.error") == 0


@pytest.mark.parametrize("name", ["中文 mit Leerzeichen", "émoji-🔑", "zéro'quote\"$HOME"])
async def test_a_working_directory_of_any_name_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "da.txt").write_text("hier", encoding="utf-8")
    monkeypatch.chdir(folder)
    look = calls(
        ("v", "view", '{"path": "da.txt"}'),
        ("b", "bash", '{"command": "cat da.txt; pwd"}'),
        ("g", "grep", '{"pattern": "hier"}'),
    )
    for options in ({}, {"workingDirectory": str(folder)}):
        async with serving(folder, [look, text("fine")]) as server:
            client = server.connect()
            opened = await client.call("session.create", **options)
            session_id = opened["sessionId"]
            await client.call("session.permissions.setApproveAll", sessionId=session_id, enabled=True)
            await client.call("session.send", sessionId=session_id, prompt="look")
            await client.until("session.idle")
            told = results(server.model.requests[1])
            assert told["v"] == "1. hier"
            assert told["b"] == f"hier{folder}\n<exited with exit code 0>"
            assert "da.txt:1:hier" in told["g"]
        shutil.rmtree(folder / "home")
    monkeypatch.undo()
