"""A summary for somebody who takes the work over."""

from pathlib import Path

import anyio
import pytest

from tests.cases.wired import serving
from tests.server.sessions import prompted, started
from turnwright.engine.handoff import INSTRUCTIONS
from turnwright.errors import ProviderError, RequestFailed
from turnwright.protocol.messages import Assistant, Reply, User
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import text

pytestmark = pytest.mark.anyio

METHOD = "session.history.summarizeForHandoff"


async def test_without_a_conversation_the_model_is_not_asked(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        assert await client.call(METHOD, sessionId=session) == {"summary": ""}
        assert server.model.requests == []


async def test_the_summary_is_one_turn_of_its_own_and_the_conversation_stays(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("hello"), text("\n# All of it\n"), text("still here")]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "hi")
        before = len(server.logged(session))
        assert await client.call(METHOD, sessionId=session) == {"summary": "# All of it"}
        told = [(event.type, event.agent_id) for event in server.logged(session)[before:]]
        assert told == [
            ("assistant.turn_start", "handoff"),
            ("session.usage_record", "handoff"),
            ("assistant.turn_end", "handoff"),
        ]
        await prompted(client, session, "and now?")
        first, second, third = (request.messages for request in server.model.requests)
        assert second == (*first, Assistant("hello"), User(INSTRUCTIONS))
        assert third[:2] == second[:2]
        assert len(third) == 3


async def test_a_summary_that_fails_is_an_error_of_the_call_alone(tmp_path: Path) -> None:
    script = [text("hello"), ProviderError("the model is out"), text(" "), text("again")]
    async with serving(tmp_path, script) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "hi")
        for reason in ("the model is out", "The model wrote no summary."):
            with pytest.raises(RequestFailed, match=reason):
                await client.call(METHOD, sessionId=session)
        await prompted(client, session, "and now?")
        assert client.types.count("session.error") == 0


async def test_a_summary_can_be_given_up(tmp_path: Path) -> None:
    async def hang(request: ModelRequest) -> Reply:
        await anyio.sleep_forever()
        raise AssertionError("it slept forever")

    async with serving(tmp_path, [text("hello"), hang]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "hi")
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                with pytest.raises(RequestFailed, match="The summary was given up"):
                    await client.call(METHOD, sessionId=session)

            tasks.start_soon(ask)
            await client.until("assistant.turn_start", 2)
            cancel = "session.history.cancelBackgroundCompaction"
            assert await client.call(cancel, sessionId=session) == {"cancelled": True}
