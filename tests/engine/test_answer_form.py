"""A run whose answer must fit a schema ends in such an answer, or in an error."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cases.local_tool import LocalTool
from tests.cases.scene import Scene, scene, words
from tests.engine.harness import Recorder, app_tools, options
from turnwright.engine.answer_form import AnswerForm, check_schema
from turnwright.engine.inbox import Prompt
from turnwright.engine.models.endpoint import Fixed
from turnwright.engine.runtime import Runtime
from turnwright.engine.tool_calls.external_tool import Answer
from turnwright.errors import InvalidParams, ProviderError
from turnwright.protocol import wire
from turnwright.protocol.events.conversation import AssistantMessage, UserMessage
from turnwright.protocol.events.questions import ExternalToolRequested
from turnwright.protocol.events.session import SessionError
from turnwright.protocol.messages import User
from turnwright.providers.scripted import Scripted, calls, text
from turnwright.store.memory import MemoryStore

pytestmark = pytest.mark.anyio

COUNT: dict[str, Any] = {
    "type": "object",
    "properties": {"lines": {"type": "integer", "minimum": 0}},
    "required": ["lines"],
}
GOOD = '{"lines": 3}'


async def ask(at: Scene, prompt: str = "count", schema: dict[str, Any] = COUNT) -> None:
    """Send a prompt with a schema and wait for the idle after it."""
    idles = at.client.count("session.idle")
    at.session.send(Prompt(message_id=wire.new_id(), text=prompt, response_schema=schema))
    await at.client.until("session.idle", idles + 1)


def answers(at: Scene) -> list[str]:
    return [message.content for message in at.all(AssistantMessage)]


async def test_an_answer_that_fits_is_the_end(tmp_path: Path) -> None:
    script = [calls(("a", "ok", "{}"), content="Let me see."), text(GOOD)]
    async with scene(tmp_path, script, machine=[LocalTool("ok")]) as at:
        await ask(at)
        assert answers(at) == ["Let me see.", GOOD]
        assert [(r.answer_schema, r.answer_only) for r in at.model.requests] == [(COUNT, False)] * 2
        told = at.model.requests[0].messages[-1]
        assert isinstance(told, User)
        assert wire.encode(COUNT).decode() in told.content


async def test_the_next_prompt_is_free_of_it(tmp_path: Path) -> None:
    async with scene(tmp_path, [text(GOOD), text("Hello.")]) as at:
        await ask(at)
        await at.prompt("hi")
        assert at.model.requests[1].answer_schema is None
        assert [message.response_schema for message in at.all(UserMessage)] == [COUNT, None]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("Three.", "it is not JSON"),
        ("```json\n{}\n```", "it is not JSON"),
        ("[]", '[] is not of type "object"'),
        ("{}", '"lines" is a required property'),
        ('{"lines": -1}', "lines: -1 is less than the minimum of 0"),
    ],
)
async def test_an_answer_that_does_not_fit_is_asked_for_again_in_a_turn(
    tmp_path: Path, answer: str, fault: str
) -> None:
    async with scene(tmp_path, [text(answer), text(GOOD)]) as at:
        await ask(at)
        assert answers(at) == [answer, GOOD]
        assert at.all(SessionError) == []
        assert [request.answer_only for request in at.model.requests] == [False, True]
        assert words(at.model.requests[1])[1] == (
            f"Your final answer does not fit the schema that was asked for: {fault}. Give the answer again: "
            "one JSON value that fits the schema, and nothing else."
        )
        assert [message.source for message in at.all(UserMessage)] == [None, "response_schema"]


async def test_after_two_repairs_it_is_an_error_that_says_why(tmp_path: Path) -> None:
    async with scene(tmp_path, [text("Three."), text("3"), text("{}"), text("fine")]) as at:
        await ask(at)
        assert at.all(SessionError) == [
            SessionError(
                "response_schema",
                'The final answer does not fit the schema, after 2 repairs: "lines" is a required property',
            )
        ]
        assert at.client.types[-3:] == ["session.error", "assistant.idle", "session.idle"]
        await at.prompt("never mind")
        assert answers(at)[-1] == "fine"


async def test_an_empty_answer_is_repaired_too(tmp_path: Path) -> None:
    async with scene(tmp_path, [text(""), text(""), text(""), text(GOOD)]) as at:
        await ask(at)
        assert answers(at)[-1] == GOOD
        assert at.all(SessionError) == []


async def test_autopilot_is_asked_for_the_answer_once_its_task_is_complete(tmp_path: Path) -> None:
    script = [text("I begin."), calls(("a", "task_complete", '{"summary": "done"}')), text(GOOD)]
    async with scene(tmp_path, script, mode="autopilot") as at:
        at.session.set_mode("autopilot")
        await ask(at)
        assert answers(at) == ["I begin.", "", GOOD]
        assert at.client.count("session.autopilot_stopped") == 0


async def test_an_answer_that_came_with_task_complete_will_do(tmp_path: Path) -> None:
    done = calls(("a", "task_complete", '{"summary": "done"}'), content=GOOD)
    async with scene(tmp_path, [done]) as at:
        at.session.set_mode("autopilot")
        await ask(at)
        assert answers(at) == [GOOD]


async def test_an_endpoint_that_refuses_the_schema_is_not_told_of_it_again(tmp_path: Path) -> None:
    refusal = ProviderError("response_format json_schema is not supported", status=400)
    async with scene(tmp_path, [refusal, text("Three."), text(GOOD)]) as at:
        await ask(at)
        assert [request.answer_schema for request in at.model.requests] == [COUNT, None, None]
        assert answers(at)[-1] == GOOD
        assert at.all(SessionError) == []


async def test_another_refusal_is_what_it_was(tmp_path: Path) -> None:
    async with scene(tmp_path, [ProviderError("no such model", status=400)]) as at:
        await ask(at)
        assert [error.message for error in at.all(SessionError)] == ["no such model"]


async def test_a_message_that_steers_may_bring_the_schema(tmp_path: Path) -> None:
    async def steered(_: object) -> Any:
        prompt = Prompt(message_id=wire.new_id(), text="as JSON", response_schema=COUNT)
        at.session.send(prompt, immediate=True)
        return text("Three.")

    async with scene(tmp_path, [steered, text(GOOD)]) as at:
        await at.prompt("count")
        assert answers(at) == ["Three.", GOOD]
        assert at.model.requests[1].answer_schema == COUNT


async def test_an_abort_leaves_it_at_that(tmp_path: Path) -> None:
    async def stopped(_: object) -> Any:
        at.session.abort()
        await anyio.sleep_forever()

    async with scene(tmp_path, [stopped]) as at:
        await ask(at)
        assert at.all(SessionError) == []
        assert at.client.types[-1] == "session.idle"


async def test_a_run_that_goes_on_after_a_crash_must_still_fit(tmp_path: Path) -> None:
    store, model = MemoryStore(tmp_path), Scripted([calls(("a", "slow", "{}")), text("Three."), text(GOOD)])
    for resumed in (False, True):
        client = Recorder()
        async with Runtime(store, Fixed(model, "m"), home=tmp_path, environment={}) as runtime:
            settings = options(tmp_path, session_id="it", tools=app_tools("slow"), continue_pending_work=True)
            if not resumed:
                session = await runtime.create(settings, client)
                session.send(Prompt(message_id="m", text="count", response_schema=COUNT))
                await client.until("external_tool.requested")
                continue
            session = await runtime.resume("it", settings, client)
            question = next(q for q in session.journal.state.questions.values())
            assert isinstance(question, ExternalToolRequested)
            session.questions.answer(question.request_id, Answer("3"))
            await client.until("session.idle")
    assert [request.answer_schema for request in model.requests] == [COUNT] * 3


@pytest.mark.parametrize(
    "schema",
    [{"type": "nope"}, {"$ref": "https://example.com/schema.json"}, {"$ref": "#/$defs/x"}, {"pattern": "("}],
)
def test_a_schema_that_cannot_be_used_is_refused_by_the_fields_name(schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidParams, match=r"^responseSchema: is no JSON Schema: "):
        check_schema("responseSchema", schema)


def test_what_is_told_of_a_fault_is_bounded() -> None:
    fault = AnswerForm({"type": "integer"}).fault(wire.encode("x" * 100_000).decode())
    assert fault is not None
    assert len(fault) == 500
