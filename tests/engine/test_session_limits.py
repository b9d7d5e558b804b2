"""A session may cost only so much: the model is told, and the user is asked before it costs more."""

from pathlib import Path

import msgspec
import pytest

from tests.cases.local_tool import LocalTool
from tests.cases.scene import Scene, scene
from tests.engine.harness import Recorder, say
from turnwright.engine import session_limits
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.conversation import TurnStart, UserMessage
from turnwright.protocol.events.limits import (
    LimitsAnswer,
    LimitsExhaustedCompleted,
    LimitsExhaustedRequested,
    SessionLimits,
    SessionLimitsChanged,
)
from turnwright.protocol.events.session import SessionError
from turnwright.protocol.messages import Reply, Usage
from turnwright.protocol.prices import Prices
from turnwright.providers.scripted import calls

pytestmark = pytest.mark.anyio

PRICES = Prices(input=2.0, output=8.0)
"""A thousand tokens out are 0.8 AI credits."""


def costly(content: str, thousands: int = 1) -> Reply:
    """A reply of so many thousand tokens."""
    return Reply(content, usage=Usage(output_tokens=1000 * thousands))


def status(left: str) -> str:
    return (
        f"<session_limits_status>\nRemaining session limits: {left} AI credits. Later session_limits_status "
        "messages supersede earlier ones. Be frugal; avoid optional exploration and unnecessary tool calls."
        "\n</session_limits_status>"
    )


def statuses(at: Scene) -> list[str | None]:
    return [said.transformed_content for said in at.all(UserMessage) if said.source == "session_limits"]


def user_who_says(at: Scene, *answers: LimitsAnswer) -> None:
    """Answer the questions about limits one after another."""
    rest = list(answers)

    def react(event: Event) -> None:
        match event.data:
            case LimitsExhaustedRequested(request_id=request_id):
                at.session.questions.answer(request_id, rest.pop(0))
            case _:
                pass

    at.session.interests["test"] = session_limits.EXHAUSTED
    at.client.on_event = react


async def test_the_model_hears_what_is_left_after_each_prompt(tmp_path: Path) -> None:
    script = [costly("one"), costly("two")]
    limits = SessionLimits(5.25)
    async with scene(tmp_path, script, prices=PRICES, session_limits=limits) as at:
        await at.prompt("first")
        await at.prompt("second")
        assert statuses(at) == [status("5.25"), status("4.45")]
        last = [message.content for message in at.model.requests[0].messages]
        assert last[1:] == [status("5.25")]
        assert at.session.journal.state.prompts == 2
        assert at.session.journal.state.title == "first"


async def test_without_a_limit_nothing_is_said_of_it(tmp_path: Path) -> None:
    async with scene(tmp_path, [costly("one")], prices=PRICES) as at:
        await at.prompt("first")
        assert statuses(at) == []


async def test_with_nobody_to_ask_the_run_ends_before_the_next_model_call(tmp_path: Path) -> None:
    async with scene(tmp_path, [costly("one")], prices=PRICES, session_limits=SessionLimits(0.5)) as at:
        await at.prompt("first")
        await at.prompt("second")
        assert at.all(LimitsExhaustedRequested) == []
        assert at.all(SessionError) == [
            SessionError(
                "quota",
                "The session's limit of 0.5 AI credits is reached: 0.8 are used. "
                "Raise its sessionLimits.maxAiCredits to go on.",
                error_code="session_limits_exhausted",
            )
        ]
        assert len(at.all(TurnStart)) == 1


async def test_a_limit_that_is_reached_within_a_run_asks_before_the_next_model_call(tmp_path: Path) -> None:
    working = msgspec.structs.replace(calls(("a", "ok", "{}")), usage=Usage(output_tokens=1000))
    script = [working, costly("done")]
    limits = SessionLimits(0.5)
    async with scene(tmp_path, script, prices=PRICES, session_limits=limits, machine=[LocalTool("ok")]) as at:
        user_who_says(at, LimitsAnswer("add", additional_ai_credits=1.0))
        await at.prompt("go")
        told = ("assistant.turn_start", "assistant.turn_end", "session_limits_exhausted.requested")
        assert [type for type in at.client.types if type in told] == [
            "assistant.turn_start",
            "assistant.turn_end",
            "session_limits_exhausted.requested",
            "assistant.turn_start",
            "assistant.turn_end",
        ]
        assert at.all(SessionError) == []


async def test_more_credits_let_the_run_go_on_and_are_asked_for_until_they_suffice(tmp_path: Path) -> None:
    script = [costly("one", thousands=10), costly("two")]
    async with scene(tmp_path, script, prices=PRICES, session_limits=SessionLimits(2)) as at:
        more = LimitsAnswer("add", additional_ai_credits=1.0)
        most = LimitsAnswer("set", max_ai_credits=20.0)
        user_who_says(at, more, most)
        await at.prompt("first")
        await at.prompt("second")
        first, second = at.all(LimitsExhaustedRequested)
        assert (first, second) == (
            LimitsExhaustedRequested(2, first.request_id, 8.0),
            LimitsExhaustedRequested(3, second.request_id, 8.0),
        )
        assert at.all(LimitsExhaustedCompleted) == [
            LimitsExhaustedCompleted(first.request_id, more),
            LimitsExhaustedCompleted(second.request_id, most),
        ]
        assert at.all(SessionLimitsChanged) == [
            SessionLimitsChanged(SessionLimits(3)),
            SessionLimitsChanged(SessionLimits(20)),
        ]
        assert statuses(at)[-1] == status("12")
        assert at.all(SessionError) == []


async def test_a_limit_that_is_lifted_is_not_asked_about_again(tmp_path: Path) -> None:
    script = [costly("one"), costly("two"), costly("three")]
    async with scene(tmp_path, script, prices=PRICES, session_limits=SessionLimits(0.1)) as at:
        user_who_says(at, LimitsAnswer("unset"))
        for prompt in ("first", "second", "third"):
            await at.prompt(prompt)
        assert len(at.all(LimitsExhaustedRequested)) == 1
        assert at.all(SessionLimitsChanged) == [SessionLimitsChanged(None)]
        assert at.session.journal.state.limits is None


async def test_a_cancel_ends_the_run_and_leaves_the_limit(tmp_path: Path) -> None:
    async with scene(tmp_path, [costly("one")], prices=PRICES, session_limits=SessionLimits(0.1)) as at:
        user_who_says(at, LimitsAnswer("cancel"))
        await at.prompt("first")
        await at.prompt("second")
        assert [error.error_type for error in at.all(SessionError)] == ["quota"]
        assert at.session.journal.state.limits == SessionLimits(0.1)


@pytest.mark.parametrize("way", ["an abort", "the last client leaves"])
async def test_a_question_that_nobody_answers_ends_as_a_cancel(tmp_path: Path, way: str) -> None:
    watcher = Recorder()
    async with scene(tmp_path, [costly("one")], prices=PRICES, session_limits=SessionLimits(0.1)) as at:
        await at.prompt("first")
        at.session.interests["test"] = session_limits.EXHAUSTED
        at.session.journal.subscribers.append(lambda event: watcher.publish(at.session.id, event))
        say(at.session, "second")
        await watcher.until("session_limits_exhausted.requested")
        if way == "an abort":
            at.session.abort()
        else:
            at.session.clients.detach(at.client)
        await watcher.until("session.idle")
        (completed,) = [e.data for e in watcher.events if isinstance(e.data, LimitsExhaustedCompleted)]
        assert completed.response == LimitsAnswer("cancel")
        assert len([e for e in watcher.events if isinstance(e.data, TurnStart)]) == 0
