"""The session idle timeout: what nobody uses is unloaded, and is there again when it is named."""

from argparse import ArgumentTypeError
from pathlib import Path

import anyio
import pytest

from tests.cases.wired import WireClient, serving
from tests.cli.command import COMMAND
from tests.server.sessions import asked, prompted, started
from turnwright import Client, ProviderOptions
from turnwright.cli.arguments import seconds
from turnwright.errors import RequestFailed
from turnwright.protocol import wire
from turnwright.protocol.messages import Reply
from turnwright.protocol.wire import Json
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import calls, text
from turnwright.store.jsonl import JsonlStore
from turnwright.testing.chat_answers import say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio

SOON = 0.05
UNLOADED = "session.shutdown"


async def unloaded(client: WireClient, times: int = 1) -> None:
    """Wait until the session was unloaded so many times."""
    await client.until(UNLOADED, times)


async def test_a_session_that_nobody_uses_is_unloaded_and_goes_on_when_it_is_named(tmp_path: Path) -> None:
    """B05"""
    async with serving(tmp_path, [text("one"), text("two")], idle_timeout=SOON) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "1")
        await unloaded(client)
        await prompted(client, session, "2")
        await unloaded(client, 2)
        logged = [event.encoded for event in server.logged(session)]
        assert [event.encoded for event in client.events if not event.ephemeral] == logged
        assert client.types.count("session.resume") == 1
        assert [len(request.messages) for request in server.model.requests] == [1, 3]


async def test_an_unloaded_session_holds_neither_its_log_nor_its_history(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("one")], idle_timeout=SOON) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "1")
        before = open_logs(session)
        await unloaded(client)
        assert (before, open_logs(session)) == (1, 0)
        held = JsonlStore(server.home / "session-state").open(session)
        held.hold()
        held.close()


def open_logs(session: str) -> int:
    """How many files of a session this process has open."""
    links = [file.readlink() for file in Path("/proc/self/fd").iterdir() if file.is_symlink()]
    return sum(session in str(link) for link in links)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session.getMessages", {}),
        ("session.mode.get", {}),
        ("session.mode.set", {"mode": "plan"}),
        ("session.eventLog.read", {}),
        ("session.model.getCurrent", {}),
        ("session.usage.getMetrics", {}),
        ("session.resume", {}),
    ],
)
async def test_any_method_finds_an_unloaded_session_as_it_was(
    tmp_path: Path, method: str, params: dict[str, Json]
) -> None:
    async with serving(tmp_path, [text("one")]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "1")
        expected = await client.call(method, sessionId=session, **params)
    async with serving(tmp_path / "other", [text("one")], idle_timeout=SOON) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "1")
        await unloaded(client)
        answer = await client.call(method, sessionId=session, **params)
        await unloaded(client, 2)
        assert shape(answer) == shape(expected)


def shape(answer: Json) -> object:
    """An answer, or the names of its fields where it has some: ids and times differ between sessions."""
    return sorted(wire.convert(answer, dict[str, object])) if isinstance(answer, dict) else answer


async def test_mode_name_and_the_clients_tools_are_there_after_an_unloading(tmp_path: Path) -> None:
    tool = {"name": "look", "description": "Looks.", "skipPermission": True}
    script = [text("one"), calls(("a", "look", "{}")), text("two")]
    async with serving(tmp_path, script, idle_timeout=SOON) as server:
        client = server.connect()
        session = await started(client, tmp_path, tools=[tool])
        await prompted(client, session, "1")
        await client.call("session.name.set", sessionId=session, name="A walk")
        await client.call("session.mode.set", sessionId=session, mode="plan")
        await client.call("session.mode.set", sessionId=session, mode="interactive")
        await unloaded(client)
        await client.call("session.send", sessionId=session, prompt="look")
        request = await asked(client, "external_tool.requested")
        await client.call(
            "session.tools.handlePendingToolCall",
            sessionId=session,
            requestId=request["requestId"],
            result="seen",
        )
        await client.until("session.idle", 2)
        assert await client.call("session.name.get", sessionId=session) == {"name": "A walk"}
        assert [message.content for message in server.model.requests[-1].messages][-1] == "seen"


async def test_lists_and_metadata_tell_of_an_unloaded_session_without_loading_it(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("one")], idle_timeout=SOON) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "Count the leaves.")
        await unloaded(client)
        listed = (await client.call("session.list"))["sessions"]
        told = (await client.call("session.getMetadata", sessionId=session))["session"]
        assert [(entry["sessionId"], entry["summary"]) for entry in listed] == [
            (session, "Count the leaves.")
        ]
        assert told == listed[0]
        assert client.types.count("session.resume") == 0


async def test_a_run_counts_as_use_however_long_it_takes(tmp_path: Path) -> None:
    """B05"""
    finish, began = anyio.Event(), anyio.Event()

    async def slow(request: ModelRequest) -> Reply:
        began.set()
        await finish.wait()
        return text("at last")

    async with serving(tmp_path, [slow, text("on")], idle_timeout=SOON) as server:
        client, other = server.connect(), server.connect()
        session = await started(client, tmp_path)
        await client.call("session.send", sessionId=session, prompt="1")
        await began.wait()
        unused = await started(other, tmp_path)
        await unloaded(other)  # as long as it takes until what is unused goes
        await other.call("session.mode.get", sessionId=unused)
        await unloaded(other, 2)
        assert UNLOADED not in client.types
        finish.set()
        await client.until("session.idle")
        await unloaded(client)
        assert client.types.index("session.idle") < client.types.index(UNLOADED)


async def test_a_question_that_waits_counts_as_use(tmp_path: Path) -> None:
    script = [calls(("a", "ask_user", '{"question": "Which?"}')), text("done")]
    async with serving(tmp_path, script, idle_timeout=SOON) as server:
        client, other = server.connect(), server.connect()
        session = await started(
            client,
            tmp_path,
            tools=[{"name": "ask_user", "skipPermission": True, "overridesBuiltInTool": True}],
        )
        await client.call("session.send", sessionId=session, prompt="1")
        request = await asked(client, "external_tool.requested")
        await started(other, tmp_path)
        await unloaded(other)
        assert UNLOADED not in client.types
        await client.call(
            "session.tools.handlePendingToolCall",
            sessionId=session,
            requestId=request["requestId"],
            result="that one",
        )
        await client.until("session.idle")


async def test_a_message_on_hold_and_a_request_in_hand_count_as_use(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("one")], idle_timeout=SOON) as server:
        client, other = server.connect(), server.connect()
        session = await started(client, tmp_path)
        cursor = (await client.call("session.eventLog.tail", sessionId=session))["cursor"]
        found: list[Json] = []
        async with anyio.create_task_group() as group:

            async def wait_for_an_event() -> None:
                found.append(
                    await client.call("session.eventLog.read", sessionId=session, cursor=cursor, waitMs=9000)
                )

            group.start_soon(wait_for_an_event)
            await started(other, tmp_path)
            await unloaded(other)
            assert UNLOADED not in client.types
            await client.call("session.mode.set", sessionId=session, mode="plan")
        assert [event["type"] for event in found[0]["events"]] == ["session.mode_changed"]


async def test_the_flag_of_the_official_clients_sets_it_and_an_app_notices_nothing(tmp_path: Path) -> None:
    command = [*COMMAND, "--headless", "--session-idle-timeout", str(SOON), "--stdio"]
    async with ChatServer([say("one"), say("two")]) as server:
        provider = ProviderOptions(server.base_url)
        with anyio.fail_after(30):
            async with Client(command=command, provider=provider, model="m") as client:
                session = await client.create_session(working_directory=tmp_path)
                gone = anyio.Event()
                session.on("session.shutdown", lambda event: gone.set())
                first = await session.send_and_wait("1")
                await gone.wait()
                second = await session.send_and_wait("2")
    assert (first.data.content, second.data.content) == ("one", "two")


@pytest.mark.parametrize("given", ["soon", "-1", "inf"])
def test_a_timeout_that_is_no_time_is_refused(given: str) -> None:
    with pytest.raises(ArgumentTypeError, match="a number of seconds was expected"):
        seconds(given)


async def test_an_unloaded_session_that_another_process_writes_is_refused_until_that_is_done(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, [text("one"), text("two")], idle_timeout=SOON) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "1")
        await unloaded(client)
        held = JsonlStore(server.home / "session-state").open(session)
        held.hold()
        with pytest.raises(RequestFailed, match="is in use by"):
            await client.call("session.send", sessionId=session, prompt="2")
        held.close()
        await prompted(client, session, "2")


async def test_a_client_that_leaves_and_a_destroy_end_an_unloaded_session_without_loading_it(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, [text("one")], idle_timeout=SOON) as server:
        client, other = server.connect(), server.connect()
        session = await started(client, tmp_path, commands=[{"name": "walk", "description": "Goes."}])
        await other.call("session.resume", sessionId=session)
        await prompted(client, session, "1")
        await unloaded(client)
        size = server.log_of(session).stat().st_size
        client.peer.close()
        await other.until("commands.changed")
        await other.call("session.destroy", sessionId=session)
        with pytest.raises(RequestFailed, match="Session not found"):
            await other.call("session.getMessages", sessionId=session)
        assert server.log_of(session).stat().st_size == size
        assert wire.loads(server.log_of(session).read_bytes().splitlines()[-1])["type"] == UNLOADED
