"""Slash commands: the client's own and the runtime's, carried out at once or in their turn."""

from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cases.wired import serving
from tests.server.sessions import asked, prompted, started
from turnwright.errors import RequestFailed
from turnwright.protocol.events.commands import CommandsChanged, CommandSpec
from turnwright.protocol.events.session import Info, Warned
from turnwright.protocol.messages import Reply
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import text

pytestmark = pytest.mark.anyio

SHIP = {"name": "ship", "description": "Ship it"}


async def into(answers: list[Any], call: Awaitable[Any]) -> None:
    """Keep what a call gives."""
    answers.append(await call)


async def test_a_clients_command_is_carried_out_by_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path, commands=[SHIP])
        answers: list[Any] = []
        call = client.call("session.commands.execute", sessionId=session, commandName="ship", args="to sea")
        async with anyio.create_task_group() as group:
            group.start_soon(into, answers, call)
            execute = await asked(client, "command.execute")
            request_id = execute.pop("requestId")
            assert execute == {"command": "/ship to sea", "commandName": "ship", "args": "to sea"}
            await client.call(
                "session.commands.handlePendingCommand", sessionId=session, requestId=request_id
            )
        assert answers == [{}]
        assert client.types.count("command.completed") == 1


async def test_what_a_command_failed_with_is_its_error(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path, commands=[SHIP])
        answers: list[Any] = []
        async with anyio.create_task_group() as group:
            call = client.call("session.commands.execute", sessionId=session, commandName="ship")
            group.start_soon(into, answers, call)
            request_id = (await asked(client, "command.execute"))["requestId"]
            await client.call(
                "session.commands.handlePendingCommand",
                sessionId=session,
                requestId=request_id,
                error="no wind",
            )
        call = client.call("session.commands.execute", sessionId=session, commandName="sink", args="")
        assert [*answers, await call] == [{"error": "no wind"}, {"error": "Unknown command: /sink"}]


async def test_a_command_whose_client_leaves_fails(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client, other = server.connect(), server.connect()
        session = await started(client, tmp_path)
        await other.call("session.resume", sessionId=session, commands=[SHIP])
        answers: list[Any] = []
        async with anyio.create_task_group() as group:
            call = client.call("session.commands.execute", sessionId=session, commandName="ship", args="")
            group.start_soon(into, answers, call)
            await other.until("command.execute")
            other.peer.close()
        assert answers == [{"error": "The client of /ship left before it was done"}]
        told = [event.data for event in client.events if isinstance(event.data, CommandsChanged)]
        assert told == [CommandsChanged([CommandSpec("ship", "Ship it")]), CommandsChanged([])]


async def test_commands_are_listed_with_their_kind_and_a_clients_own_goes_first(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path, commands=[SHIP, {"name": "model"}])
        listed = (await client.call("session.commands.list", sessionId=session))["commands"]
        kinds = {command["name"]: command["kind"] for command in listed}
        assert kinds == {
            "agent": "builtin",
            "allow-all": "builtin",
            "cwd": "builtin",
            "rename": "builtin",
            "ship": "client",
            "model": "client",
        }
        own = await client.call("session.commands.list", sessionId=session, includeBuiltins=False)
        assert [command["name"] for command in own["commands"]] == ["ship", "model"]


async def test_the_runtimes_own_commands_do_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path)

        async def invoke(name: str, input: str = "") -> str:
            answer = await client.call("session.commands.invoke", sessionId=session, name=name, input=input)
            assert answer["kind"] == "text"
            return answer["text"]

        assert await invoke("model") == "No model is currently selected."
        assert await invoke("/model", "other") == "The model is other from the next call on."
        assert await invoke("Model") == "The model is other."
        assert await invoke("rename", "My try") == "The session is called My try."
        assert await invoke("cwd", "sub") == f"The working directory is {tmp_path / 'sub'}."
        assert await invoke("allow-all", "on") == "Everything is allowed without asking."
        assert await invoke("allow-all", "off") == "Asking before each request."
        snapshot = await client.call("session.metadata.snapshot", sessionId=session)
        assert (snapshot["selectedModel"], snapshot["workingDirectory"], snapshot["summary"]) == (
            "other",
            str(tmp_path / "sub"),
            "My try",
        )
        with pytest.raises(RequestFailed, match="Unknown command: /nothing"):
            await invoke("nothing")


async def test_a_queued_command_waits_for_the_prompt_before_it(tmp_path: Path) -> None:
    all_wait = anyio.Event()

    async def answer(request: ModelRequest) -> Reply:
        await all_wait.wait()
        return text("first")

    async with serving(tmp_path, [answer]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await client.call("session.send", sessionId=session, prompt="go")
        queued = [
            await client.call("session.commands.enqueue", sessionId=session, command=command)
            for command in ("/rename After", "/nothing")
        ]
        all_wait.set()
        await client.until("session.idle")
        assert queued == [{"queued": True}] * 2
        told = [e.data for e in client.events if isinstance(e.data, Info | Warned)]
        assert told == [
            Info("command", "The session is called After."),
            Warned("command", "Unknown command: /nothing"),
        ]
        assert client.types.index("session.renamed") > client.types.index("assistant.message")
        assert client.types.count("session.idle") == 1


async def test_a_client_may_take_queued_commands_into_its_own_hands_and_stop_the_queue(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, [text("later")]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        interest = {"sessionId": session, "eventType": "command.queued"}
        await client.call("session.eventLog.registerInterest", **interest)
        for command in ("/one a", "/rename never"):
            await client.call("session.commands.enqueue", sessionId=session, command=command)
        question = await asked(client, "command.queued")
        request_id = question.pop("requestId")
        assert question == {"command": "/one a"}
        answer = {
            "sessionId": session,
            "requestId": request_id,
            "result": {"handled": True, "stopProcessingQueue": True},
        }
        settled = [await client.call("session.commands.respondToQueuedCommand", **answer) for _ in range(2)]
        assert settled == [{"success": True}, {"success": False}]
        await client.until("session.idle")
        pending = await client.call("session.queue.pendingItems", sessionId=session)
        assert [item["displayText"] for item in pending["items"]] == ["/rename never"]
        await client.call("session.queue.clear", sessionId=session)
        await prompted(client, session, "go")
        assert client.types.count("session.renamed") == 0
