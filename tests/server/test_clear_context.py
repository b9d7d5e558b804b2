"""A tool's handler lets the conversation begin anew; the log keeps everything."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cases.scene import words
from tests.cases.wired import WireClient, serving
from tests.engine.harness import Recorder, app_tools, options, running, say
from tests.server.sessions import asked, prompted, started
from turnwright.engine.context_clearing import clear_context
from turnwright.engine.tool_calls.external_tool import Answer
from turnwright.errors import RequestFailed
from turnwright.protocol.events.compaction import CompactionComplete, ContextCleared
from turnwright.protocol.events.conversation import UserMessage
from turnwright.protocol.events.questions import ExternalToolRequested
from turnwright.protocol.events.session import UsageInfo
from turnwright.protocol.messages import Reply
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import Scripted, calls, text
from turnwright.store.disk import Disk
from turnwright.store.history import History
from turnwright.store.jsonl import JsonlLog
from turnwright.store.load import load

pytestmark = pytest.mark.anyio

TOOLS = [{"name": "restart", "skipPermission": True}, {"name": "other", "skipPermission": True}]
RESTART = calls(("a", "restart", "{}"), ("b", "other", "{}"))


async def clear(client: WireClient, session: str, prompt: str = "start over") -> dict[str, int]:
    return await client.call("session.history.clearContext", sessionId=session, prompt=prompt)


async def in_a_handler(
    client: WireClient, session: str, do: Callable[[], Coroutine[Any, Any, object]], *, idles: int = 2
) -> None:
    """Have the model call the tools, do something while they are in flight, and let both succeed."""
    await client.call("session.send", sessionId=session, prompt="do it")
    await client.until("external_tool.requested", 2)
    await do()
    for question in [e.data.request_id for e in client.events if isinstance(e.data, ExternalToolRequested)]:
        await client.call(
            "session.tools.handlePendingToolCall", sessionId=session, requestId=question, result="ok"
        )
    await client.until("session.idle", idles)


def as_resumed(log: Path) -> History:
    """The history that a resume reads."""
    opened = JsonlLog(log, Disk(), new=False)
    try:
        opened.hold()
        return load(opened).history
    finally:
        opened.close()


async def test_the_model_sees_the_first_message_alone_and_the_log_keeps_everything(tmp_path: Path) -> None:
    script = [text("hello"), RESTART, text("fresh"), text("goes on")]
    async with serving(tmp_path, script) as server:
        client = server.connect()
        session = await started(client, tmp_path, tools=TOOLS)
        await prompted(client, session, "hi")
        cleared: list[dict[str, int]] = []

        async def restart() -> None:
            cleared.append(await clear(client, session))
            await client.call("session.send", sessionId=session, prompt="steered", mode="immediate")

        await in_a_handler(client, session, restart)
        assert cleared == [{"messagesCleared": 4}]  # hi, hello, do it, and the reply that called
        assert words(server.model.requests[2]) == ["start over"]
        assert words(server.model.requests[3]) == ["start over", "steered"]
        assert client.types.count("session.idle") == 2
        said = [event.data for event in server.logged(session) if isinstance(event.data, UserMessage)]
        assert [message.content for message in said] == ["hi", "do it", "start over", "steered"]
        (event,) = [event.data for event in server.logged(session) if event.type == "session.context_cleared"]
        assert event == ContextCleared(4, "start over", said[2].message_id)
        results = [event for event in server.logged(session) if event.type == "tool.execution_complete"]
        assert len(results) == 2
        messages = [*server.model.requests[3].messages]
        await client.call("session.destroy", sessionId=session)
        resumed = as_resumed(server.log_of(session))
        assert (resumed.messages[: len(messages)], len(resumed.messages)) == (messages, 4)
        assert resumed.size == History.length(resumed.messages)


async def test_counts_are_those_of_the_new_conversation(tmp_path: Path) -> None:
    script = [text("x" * 40_000), RESTART, text("fresh")]
    async with serving(tmp_path, script) as server:
        client = server.connect()
        session = await started(client, tmp_path, tools=TOOLS)
        await prompted(client, session, "hi")
        await in_a_handler(client, session, lambda: clear(client, session))
        told = [event.data for event in client.events if isinstance(event.data, UsageInfo)]
        assert [info.messages_length for info in told] == [2, 4, 2]  # the prompt too
        tokens = [info.conversation_tokens or 0 for info in told]
        assert tokens[1] > 50 * tokens[2]


async def test_without_a_call_in_flight_or_a_message_it_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("hello"), RESTART, text("goes on")]) as server:
        client = server.connect()
        session = await started(client, tmp_path, tools=TOOLS)
        await prompted(client, session, "hi")
        with pytest.raises(RequestFailed, match="no tool call is in flight"):
            await clear(client, session)

        async def wrongly() -> None:
            with pytest.raises(RequestFailed, match="prompt: must not be empty"):
                await clear(client, session, " ")

        await in_a_handler(client, session, wrongly)
        assert client.types.count("session.context_cleared") == 0
        assert words(server.model.requests[2]) == ["hi", "do it"]


async def test_after_an_abort_the_first_message_is_still_the_first(tmp_path: Path) -> None:
    async with serving(tmp_path, [RESTART, text("fresh")]) as server:
        client = server.connect()
        session = await started(client, tmp_path, tools=TOOLS)
        await client.call("session.send", sessionId=session, prompt="do it")
        await asked(client, "external_tool.requested")
        await clear(client, session)
        await client.call("session.abort", sessionId=session)
        await client.until("session.idle")
        assert words(server.model.requests[1]) == ["start over"]


async def test_a_runtime_that_ends_in_between_does_not_lose_the_first_message(tmp_path: Path) -> None:
    async with serving(tmp_path, [RESTART, text("fresh")]) as server:
        client = server.connect()
        session = await started(client, tmp_path, tools=TOOLS)
        await client.call("session.send", sessionId=session, prompt="do it")
        await asked(client, "external_tool.requested")
        await clear(client, session)
        await client.call("session.destroy", sessionId=session)
        assert as_resumed(server.log_of(session)).messages == []
        await client.call("session.resume", sessionId=session, tools=TOOLS)
        await prompted(client, session, "are you there?")
        assert words(server.model.requests[1]) == ["start over", "are you there?"]


async def test_a_summary_that_is_being_written_is_given_up(tmp_path: Path) -> None:
    asked_for_summary = anyio.Event()

    async def never(request: ModelRequest) -> Reply:
        asked_for_summary.set()
        await anyio.sleep_forever()
        raise AssertionError

    client, model = Recorder(), Scripted([RESTART, never, text("fresh")])
    async with running(model, tmp_path) as runtime:
        given = options(tmp_path, tools=app_tools("restart", "other"))
        session = await runtime.create(given, client)
        say(session, "do it")
        await client.until("external_tool.requested", 2)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.compaction.run, "manual")
            await asked_for_summary.wait()
            clear_context(session, "start over")
        for question in tuple(session.journal.state.questions):
            session.questions.answer(question, Answer("ok"))
        await client.until("session.idle")
        (summary,) = [event.data for event in client.events if isinstance(event.data, CompactionComplete)]
        assert (summary.success, summary.error) == (False, "The summary was given up.")
        assert words(model.requests[-1]) == ["start over"]
        assert model.problems == []


@pytest.mark.parametrize("way", ["rewind", "truncate", "fork"])
async def test_going_back_to_before_the_first_message_leaves_a_conversation_without_it(
    tmp_path: Path, way: str
) -> None:
    async with serving(tmp_path, [RESTART, text("fresh"), text("other")]) as server:
        client = server.connect()
        session = await started(client, tmp_path, tools=TOOLS)
        await in_a_handler(client, session, lambda: clear(client, session), idles=1)
        (first,) = [
            event.id
            for event in server.logged(session)
            if isinstance(event.data, UserMessage) and event.data.content == "start over"
        ]
        if way == "fork":
            forked = await client.call("sessions.fork", sessionId=session, toEventId=first)
            session = forked["sessionId"]
            await client.call("session.resume", sessionId=session, tools=TOOLS)
        elif way == "rewind":
            given = {"eventId": first, "mode": "conversation"}
            assert (await client.call("session.history.rewind", sessionId=session, **given))[
                "outcome"
            ] == "success"
        else:
            await client.call("session.history.truncate", sessionId=session, eventId=first)
        await prompted(client, session, "something else")
        assert words(server.model.requests[2]) == ["something else"]
        told = [event.data for event in server.logged(session) if isinstance(event.data, ContextCleared)]
        assert told[1:] == [ContextCleared(0)]
