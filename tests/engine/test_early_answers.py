"""Answers that come as soon as a session is resumed."""

from pathlib import Path

import pytest

from tests.engine.harness import Recorder, app_tools, options, running, say
from turnwright.engine.tool_calls.external_tool import Answer
from turnwright.protocol.events.questions import ExternalToolRequested
from turnwright.providers.scripted import Scripted, calls, text

pytestmark = pytest.mark.anyio


async def test_a_question_may_be_answered_before_the_resumed_run_waits_for_it(tmp_path: Path) -> None:
    model = Scripted([calls(("a", "ext", "{}")), text("done")])
    client = Recorder()
    given = options(tmp_path, tools=app_tools("ext"), continue_pending_work=True)
    async with running(model, tmp_path) as runtime:
        session = await runtime.create(given, client)
        say(session, "go")
        await client.until("external_tool.requested")
        await runtime.unload(session.id)
        (question,) = [e.data for e in client.events if isinstance(e.data, ExternalToolRequested)]
        session = await runtime.resume(session.id, given, client)
        first = session.questions.answer(question.request_id, Answer("early"))
        second = session.questions.answer(question.request_id, Answer("too late"))
        await client.until("session.idle")
    assert (first, second) == (True, False)
    assert client.count("external_tool.completed") == 1
    assert [getattr(m, "content", "") for m in model.requests[-1].messages][-1] == "early"
    assert model.problems == []
