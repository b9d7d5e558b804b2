"""The official Python client drives the runtime, over stdio and TCP: an app of its needs no change."""

import asyncio
import gc
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from copilot import CopilotClient, RuntimeConnection
from copilot.generated.rpc import PermissionDecisionReject
from copilot.session import CopilotSession, PermissionHandler, ProviderConfig
from copilot.session_events import (
    AssistantMessageData,
    AssistantMessageDeltaData,
    SessionEvent,
    SessionIdleData,
    ToolExecutionCompleteData,
)
from copilot.tools import Tool, ToolInvocation, ToolResult

from tests.client.runtimes import COMMAND, SECONDS
from turnwright.testing.chat_answers import Say, call, say
from turnwright.testing.chat_server import ChatServer

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("kind", ["stdio", "tcp"]),
    # The official client doesn't close the pipes of its child.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

TOUCH = call("bash", {"command": "touch made", "description": "Touch"})


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Let its pipes be collected here, where that is no fault, and not in another test."""
    yield
    gc.collect()


@asynccontextmanager
async def started(kind: str, home: Path) -> AsyncGenerator[CopilotClient, None]:
    """The official client, with our command as its runtime."""
    path = COMMAND[0]
    connection = (
        RuntimeConnection.for_stdio(path=path) if kind == "stdio" else RuntimeConnection.for_tcp(path=path)
    )
    client = CopilotClient(
        connection=connection, working_directory=str(home), env=dict(os.environ), base_directory=str(home)
    )
    with anyio.fail_after(SECONDS):
        await client.start()
        try:
            yield client
        finally:
            await client.stop()


def provider(server: ChatServer) -> ProviderConfig:
    return ProviderConfig(type="openai", base_url=server.base_url, wire_api="completions", api_key="key")


def content(event: SessionEvent | None) -> str:
    """The text of a reply."""
    assert event is not None
    assert isinstance(event.data, AssistantMessageData)
    return event.data.content


def tool_results(server: ChatServer) -> list[str]:
    """The tool results that the model got last."""
    return [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]


async def opened(client: CopilotClient, server: ChatServer, *tools: Tool) -> CopilotSession:
    """A session that streams, with everything allowed."""
    return await client.create_session(
        on_permission_request=PermissionHandler.approve_all,
        model="test-model",
        provider=provider(server),
        tools=list(tools),
        streaming=True,
    )


async def test_a_prompt_is_streamed_and_answered(kind: str, tmp_path: Path) -> None:
    pieces: list[str] = []

    def listen(event: SessionEvent) -> None:
        if isinstance(event.data, AssistantMessageDeltaData):
            pieces.append(event.data.delta_content)

    async with ChatServer([say("Hello there, world.")]) as server, started(kind, tmp_path) as client:
        session = await opened(client, server)
        session.on(listen)
        reply = await session.send_and_wait("hi", timeout=SECONDS)
        logged = [event.type.value for event in await session.get_events()]
    assert content(reply) == "Hello there, world."
    assert "".join(pieces) == "Hello there, world."
    assert len(pieces) > 1
    assert logged.count("assistant.turn_start") == len(server.requests) == 1
    assert server.violations == []


async def test_the_apps_tool_is_called(kind: str, tmp_path: Path) -> None:
    async def lookup(invocation: ToolInvocation) -> ToolResult:
        return ToolResult(f"{invocation.arguments['word']}: a word")

    parameters = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
    tool = Tool("lookup", "Look a word up.", lookup, parameters)
    script = [call("lookup", {"word": "tree"}), say("A tree.")]
    async with ChatServer(script) as server, started(kind, tmp_path) as client:
        session = await opened(client, server, tool)
        assert content(await session.send_and_wait("What is a tree?", timeout=SECONDS)) == "A tree."
        assert tool_results(server) == ["tree: a word"]
    assert server.violations == []


async def test_a_permission_is_granted_or_rejected(kind: str, tmp_path: Path) -> None:
    async with ChatServer([TOUCH, TOUCH, say("done")]) as server, started(kind, tmp_path) as client:
        session = await client.create_session(
            on_permission_request=lambda request, invocation: PermissionDecisionReject(feedback="no"),
            model="test-model",
            provider=provider(server),
            working_directory=str(tmp_path),
        )
        await session.send_and_wait("touch it", timeout=SECONDS)
        assert len(server.requests) == 1
        assert not (tmp_path / "made").exists()
        await session.disconnect()
        session = await client.resume_session(
            session.session_id,
            on_permission_request=PermissionHandler.approve_all,
            provider=provider(server),
        )
        assert content(await session.send_and_wait("do it", timeout=SECONDS)) == "done"
        assert (tmp_path / "made").exists()


async def test_an_abort_ends_the_run_and_the_next_prompt_works(kind: str, tmp_path: Path) -> None:
    gate, idle = anyio.Event(), asyncio.Event()
    aborted: list[bool | None] = []

    def listen(event: SessionEvent) -> None:
        if isinstance(event.data, SessionIdleData):
            aborted.append(event.data.aborted)
            idle.set()

    async with (
        ChatServer([Say("never", gate=gate), say("after")]) as server,
        started(kind, tmp_path) as client,
    ):
        session = await opened(client, server)
        session.on(listen)
        await session.send("go")
        await server.wait_for_requests(1)
        await session.abort()
        await idle.wait()
        assert aborted == [True]
        assert content(await session.send_and_wait("go on", timeout=SECONDS)) == "after"


async def test_a_session_is_resumed_by_another_runtime(kind: str, tmp_path: Path) -> None:
    async with ChatServer([say("One."), say("Two.")]) as server:
        async with started(kind, tmp_path) as client:
            session = await opened(client, server)
            await session.send_and_wait("first", timeout=SECONDS)
        async with started(kind, tmp_path) as client:
            resumed = await client.resume_session(
                session.session_id,
                on_permission_request=PermissionHandler.approve_all,
                provider=provider(server),
            )
            assert content(await resumed.send_and_wait("second", timeout=SECONDS)) == "Two."
            listed = [entry.session_id for entry in await client.list_sessions()]
        said = [m["role"] for m in server.requests[-1]["messages"]]
    assert said == ["system", "user", "assistant", "user"]
    assert listed == [session.session_id]


async def test_an_unknown_tool_of_the_model_is_the_models_news(kind: str, tmp_path: Path) -> None:
    """B30."""
    results: list[bool] = []

    def listen(event: SessionEvent) -> None:
        if isinstance(event.data, ToolExecutionCompleteData):
            results.append(event.data.success)

    async with ChatServer([call("nope"), say("sorry")]) as server, started(kind, tmp_path) as client:
        session = await opened(client, server)
        session.on(listen)
        assert content(await session.send_and_wait("go", timeout=SECONDS)) == "sorry"
        assert tool_results(server)[0].startswith("Tool 'nope' does not exist.")
    assert results == [False]
