"""A summary for somebody who takes the work over."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

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
COMPACT = "session.history.compact"


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


class Gated:
    """Steps of a script that wait until they may answer."""

    def __init__(self) -> None:
        self.may_answer = anyio.Event()

    def says(self, content: str) -> Callable[[ModelRequest], Awaitable[Reply]]:
        async def answer(request: ModelRequest) -> Reply:
            await self.may_answer.wait()
            return text(content)

        return answer


async def test_a_compaction_beside_it_waits_and_is_not_left_out(tmp_path: Path) -> None:
    gate = Gated()
    script = [text("hello"), gate.says("# All of it"), text("<overview>greetings</overview>")]
    async with serving(tmp_path, script) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "hi")
        answers: dict[str, Any] = {}

        async def call(method: str) -> None:
            answers[method] = await client.call(method, sessionId=session)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, METHOD)
            await client.until("assistant.turn_start", 2)
            tasks.start_soon(call, COMPACT)
            await anyio.wait_all_tasks_blocked()
            assert client.types.count("session.compaction_start") == 0
            gate.may_answer.set()
        assert answers[METHOD] == {"summary": "# All of it"}
        assert answers[COMPACT]["summaryContent"] == "<overview>greetings</overview>"
        assert client.types.count("session.compaction_complete") == 1


async def test_giving_up_takes_a_compaction_that_waits_along(tmp_path: Path) -> None:
    gate = Gated()
    async with serving(tmp_path, [text("hello"), gate.says("never")]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "hi")
        answers: list[Any] = []

        async def hand_off() -> None:
            with pytest.raises(RequestFailed, match="The summary was given up"):
                await client.call(METHOD, sessionId=session)

        async def compact() -> None:
            answers.append(await client.call(COMPACT, sessionId=session))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hand_off)
            await client.until("assistant.turn_start", 2)
            tasks.start_soon(compact)
            await anyio.wait_all_tasks_blocked()
            cancel = "session.history.cancelBackgroundCompaction"
            assert await client.call(cancel, sessionId=session) == {"cancelled": True}
        assert [(answer["success"], answer["error"]) for answer in answers] == [
            (False, "The summary was given up.")
        ]
        assert client.types.count("session.compaction_start") == 0
        assert len(server.model.requests) == 2
