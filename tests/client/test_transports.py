"""The SDK with a runtime in a child process and over TCP, and a chat-completions server as the model."""

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.client.runtimes import SECONDS, STDIO, Heard, over_tcp, provider
from turnwright import (
    Client,
    ConfigError,
    ConnectionClosed,
    RequestFailed,
    Session,
    SessionNotFound,
    approve_all,
    tool,
)
from turnwright.testing.chat_answers import Say, call, say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio


@tool
def lookup(word: str) -> str:
    """Look a word up."""
    return f"{word}: a word"


@asynccontextmanager
async def connected(kind: str, server: ChatServer, home: Path) -> AsyncGenerator[Client, None]:
    with anyio.fail_after(SECONDS):
        if kind == "child":
            async with Client(command=STDIO, home=home, provider=provider(server.base_url)) as client:
                yield client
            return
        async with (
            over_tcp(home, token="secret") as address,
            Client(address=address, token="secret", provider=provider(server.base_url)) as client,
        ):
            yield client


@pytest.mark.parametrize("kind", ["child", "tcp"])
async def test_a_prompt_with_a_tool_goes_through_and_the_session_can_be_resumed(
    kind: str, tmp_path: Path
) -> None:
    async with (
        ChatServer([call("lookup", {"word": "tree"}), say("A tree."), say("Again.")]) as server,
        connected(kind, server, tmp_path) as client,
    ):
        options = {"tools": [lookup], "on_permission": approve_all}
        async with await client.create_session(streaming=True, **options) as session:  # pyright: ignore[reportArgumentType]
            heard = Heard(session)
            reply = await session.send_and_wait("What is a tree?")
            assert (
                "".join(
                    getattr(event.data, "delta_content", "")
                    for event in heard.events
                    if event.type == "assistant.message_delta"
                )
                == reply.data.content
            )
        async with await client.resume_session(session.id, tools=[lookup]) as session:
            assert (await session.send_and_wait("Again?")).data.content == "Again."
        assert [info.session_id for info in await client.list_sessions()] == [session.id]
    assert reply.data.content == "A tree."
    assert server.violations == []
    results = [m["content"] for m in server.requests[1]["messages"] if m["role"] == "tool"]
    assert results == ["tree: a word"]


async def test_over_tcp_a_session_goes_on_when_its_client_leaves(tmp_path: Path) -> None:
    gate = anyio.Event()
    with anyio.fail_after(SECONDS):
        async with ChatServer([Say("late", gate=gate)]) as server, over_tcp(tmp_path) as address:
            async with (
                Client(address=address, provider=provider(server.base_url)) as client,
                await client.create_session() as session,
            ):
                await session.send("go")
                await server.wait_for_requests(1)
            async with Client(address=address) as client:
                again = await client.resume_session(session.id, continue_pending_work=True)
                heard = Heard(again)
                gate.set()
                await heard.until("session.idle")
    assert [getattr(e.data, "content", "") for e in heard.events if e.type == "assistant.message"] == ["late"]


async def test_two_clients_share_a_session_and_the_one_with_the_tool_runs_it(tmp_path: Path) -> None:
    with anyio.fail_after(SECONDS):
        async with (
            ChatServer([call("lookup", {"word": "tree"}), say("done")]) as server,
            over_tcp(tmp_path) as address,
            Client(address=address, provider=provider(server.base_url)) as one,
            Client(address=address) as two,
            await one.create_session() as first,
            await two.resume_session(first.id, tools=[lookup], on_permission=approve_all) as second,
        ):
            seen = [Heard(first), Heard(second)]
            reply = await first.send_and_wait("go")
            await seen[1].until("session.idle")
            assert reply.data.content == "done"
            assert [e.id for e in seen[0].events] == [e.id for e in seen[1].events]


async def test_a_wrong_token_is_refused(tmp_path: Path) -> None:
    with anyio.fail_after(SECONDS):
        async with over_tcp(tmp_path, token="secret") as address:
            with pytest.raises(RequestFailed, match="AUTHENTICATION_FAILED"):
                async with Client(address=address, token="guess"):
                    pass


async def test_nobody_at_an_address_and_no_such_command_are_said(tmp_path: Path) -> None:
    with anyio.fail_after(SECONDS):
        with pytest.raises(ConnectionClosed, match="Nobody answers at"):
            async with Client(address="127.0.0.1:1"):
                pass
        with pytest.raises(ConfigError, match="host:port"):
            async with Client(address="localhost"):
                pass
        with pytest.raises(ConfigError, match="can't start"):
            async with Client(command=[str(tmp_path / "nothing")]):
                pass


async def test_a_command_that_is_no_runtime_is_found_out() -> None:
    with anyio.fail_after(SECONDS), pytest.raises(ConnectionClosed):
        async with Client(command=[sys.executable, "-c", "pass"]):
            pass


IGNORES_EVERYTHING = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
body = b'{"jsonrpc":"2.0","id":1,"result":{"ok":true}}'
sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
sys.stdout.buffer.flush()
time.sleep(600)
"""


async def test_a_child_that_wont_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnwright.client.client.SHUTDOWN_SECONDS", 0.1)
    monkeypatch.setattr("turnwright.client.transports.SECONDS_TO_END", 0.1)
    monkeypatch.setattr("turnwright.client.transports.SECONDS_TO_END_AFTER_SIGTERM", 0.1)
    with anyio.fail_after(SECONDS):
        async with Client(command=[sys.executable, "-c", IGNORES_EVERYTHING]):
            pass


async def test_a_runtime_that_dies_wakes_those_who_wait(tmp_path: Path) -> None:
    gate = anyio.Event()
    caught: list[Exception] = []

    async def ask(session: Session) -> None:
        with pytest.raises(ConnectionClosed) as raised:
            await session.send_and_wait("go")
        caught.append(raised.value)

    with anyio.fail_after(SECONDS):
        async with (
            ChatServer([Say("never", gate=gate), say("after")]) as server,
            Client(
                command=["sh", "-c", f"echo $$ >{tmp_path}/pid; exec {' '.join(STDIO)}"],
                home=tmp_path,
                provider=provider(server.base_url),
            ) as client,
            anyio.create_task_group() as tasks,
        ):
            session = await client.create_session()
            tasks.start_soon(ask, session)
            await server.wait_for_requests(1)
            os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert len(caught) == 1


async def test_deleting_an_open_session_closes_it(tmp_path: Path) -> None:
    with anyio.fail_after(SECONDS):
        async with Client(command=STDIO, home=tmp_path) as client:
            session = await client.create_session()
            await client.delete_session(session.id)
            with pytest.raises(SessionNotFound):
                await session.get_events()
