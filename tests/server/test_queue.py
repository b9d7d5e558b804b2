"""What waits for its turn can be seen and taken back, and a suspended session begins nothing by itself."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cases.wired import Server, WireClient, serving
from tests.server.sessions import asked, started
from turnwright.protocol.events.conversation import UserMessage
from turnwright.protocol.messages import Reply
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import calls, text

pytestmark = pytest.mark.anyio


class SlowReply:
    """A step of a script that waits to be let go."""

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.go = anyio.Event()

    async def __call__(self, request: ModelRequest) -> Reply:
        self.asked.set()
        await self.go.wait()
        return text("slow")


def said(server: Server, session: str) -> list[str]:
    """The user's messages in a log."""
    return [e.data.content for e in server.logged(session) if isinstance(e.data, UserMessage)]


async def send(client: WireClient, session: str, prompt: str, **params: Any) -> str:
    """Send a message; its id."""
    sent = await client.call("session.send", sessionId=session, prompt=prompt, **params)
    return sent["messageId"]


async def test_what_waits_is_shown_in_order_and_the_newest_can_be_taken_back(tmp_path: Path) -> None:
    slow = SlowReply()
    async with serving(tmp_path, [slow, text("b")]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await send(client, session, "a")
        with anyio.fail_after(5):
            await slow.asked.wait()
        second = await send(client, session, "b", agentMode="plan")
        await client.call("session.commands.enqueue", sessionId=session, command="/c 1")
        await send(client, session, "now", mode="immediate")
        pending = await client.call("session.queue.pendingItems", sessionId=session)
        assert pending["steeringMessages"] == ["now"]
        command = pending["items"][1].pop("id")
        assert pending["items"] == [
            {"id": second, "kind": "message", "displayText": "b", "agentMode": "plan"},
            {"kind": "command", "displayText": "/c 1", "agentMode": "interactive"},
        ]
        assert command
        for _ in range(2):
            assert await client.call("session.queue.removeMostRecent", sessionId=session) == {"removed": True}
        slow.go.set()
        await client.until("session.idle")
        assert said(server, session) == ["a", "b"]
        assert await client.call("session.queue.removeMostRecent", sessionId=session) == {"removed": False}


async def test_a_cleared_queue_begins_nothing(tmp_path: Path) -> None:
    slow = SlowReply()
    async with serving(tmp_path, [slow]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        for prompt in ("a", "b", "c"):
            await send(client, session, prompt)
        with anyio.fail_after(5):
            await slow.asked.wait()
        await client.call("session.queue.clear", sessionId=session)
        empty: dict[str, list[str]] = {"items": [], "steeringMessages": []}
        assert await client.call("session.queue.pendingItems", sessionId=session) == empty
        slow.go.set()
        await client.until("session.idle")
        assert said(server, session) == ["a"]


async def test_a_suspended_session_stops_and_its_queue_waits_for_the_next_message(tmp_path: Path) -> None:
    slow = SlowReply()
    async with serving(tmp_path, [slow, text("b"), text("c")]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await send(client, session, "a")
        await send(client, session, "b")
        with anyio.fail_after(5):
            await slow.asked.wait()
        await client.call("session.suspend", sessionId=session)
        assert client.types[-1] == "session.idle"
        waiting = await client.call("session.queue.pendingItems", sessionId=session)
        assert [item["displayText"] for item in waiting["items"]] == ["b"]
        await send(client, session, "c")
        await client.until("session.idle", 2)
        assert said(server, session) == ["a", "b", "c"]


async def test_suspending_answers_what_was_pending(tmp_path: Path) -> None:
    async with serving(tmp_path, [calls(("a", "mine", "{}"))]) as server:
        client = server.connect()
        tools = [{"name": "mine", "skipPermission": True}]
        session = await started(client, tmp_path, tools=tools)
        await send(client, session, "use it")
        request_id = (await asked(client, "external_tool.requested"))["requestId"]
        await client.call("session.suspend", sessionId=session)
        await client.call("session.suspend", sessionId=session)
        assert client.types.count("external_tool.completed") == 1
        answer = {"sessionId": session, "requestId": request_id, "result": "late"}
        assert await client.call("session.tools.handlePendingToolCall", **answer) == {"success": False}
