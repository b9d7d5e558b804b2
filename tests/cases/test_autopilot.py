"""Autopilot: the model is asked to go on while it may help, and never for ever."""

from pathlib import Path
from typing import Any

import pytest

from tests.cases.scene import Scene, offered, scene, words
from tests.engine.harness import answer_everything, app_tools, say
from turnwright.engine.autopilot import NUDGE
from turnwright.errors import ProviderError
from turnwright.protocol.events.conversation import UserMessage
from turnwright.protocol.events.session import AutopilotStopped, SessionError, TaskComplete
from turnwright.protocol.messages import Reply
from turnwright.protocol.options import AutopilotLimits
from turnwright.providers.base import ModelRequest
from turnwright.providers.openai_chat import OpenAIChat
from turnwright.providers.scripted import Step, calls, text
from turnwright.testing.chat_answers import refuse
from turnwright.testing.chat_server import ChatServer
from turnwright.tools.builtin import machine_tools

pytestmark = pytest.mark.anyio

DONE = calls(("done", "task_complete", '{"summary": "all of it"}'))


def nudges(scene: Scene) -> int:
    """How often the model was asked to go on."""
    return sum(message.is_autopilot_continuation is True for message in scene.all(UserMessage))


async def test_the_completion_tool_is_offered_though_filters_leave_it_out_and_nudges_are_bounded(
    tmp_path: Path,
) -> None:
    """B09"""
    script = [text("Done.")] * 50
    options: dict[str, Any] = {
        "mode": "autopilot",
        "available_tools": ["view"],
        "excluded_tools": ["task_complete"],
    }
    async with scene(tmp_path, script, machine=machine_tools(), **options) as at:
        await at.prompt("do it")
        assert offered(at.model.requests[0]) == {"view", "task_complete"}
        assert nudges(at) == 5
        assert len(at.model.requests) == 6
        assert at.all(AutopilotStopped) == [AutopilotStopped("cap_reached")]
        assert at.client.types[-1] == "session.idle"


async def test_a_rate_limit_stops_autopilot_at_once(tmp_path: Path) -> None:
    """B11"""
    limited = refuse(429, "come back later", headers={"retry-after": "7200"})
    async with ChatServer([limited] * 20) as server:
        provider = OpenAIChat(server.base_url)
        try:
            async with scene(tmp_path, provider, mode="autopilot") as at:
                await at.prompt("do it")
                assert len(server.requests) == 1
                assert nudges(at) == 0
                assert [error.error_type for error in at.all(SessionError)] == ["rate_limit"]
                assert at.client.types[-1] == "session.idle"
        finally:
            await provider.aclose()


async def test_nothing_is_nudged_after_an_error(tmp_path: Path) -> None:
    """B11"""
    async with scene(tmp_path, [ProviderError("no such model")], mode="autopilot") as at:
        await at.prompt("do it")
        assert nudges(at) == 0
        assert at.client.types[-3:] == ["session.error", "assistant.idle", "session.idle"]


async def test_what_the_user_has_queued_goes_before_any_nudge(tmp_path: Path) -> None:
    """B14"""

    async def while_a_question_is_queued(request: ModelRequest) -> Reply:
        say(at.session, "new question")
        return text("first")

    script: list[Step] = [while_a_question_is_queued, DONE]
    async with scene(tmp_path, script, mode="autopilot") as at:
        await at.prompt("do it")
        assert words(at.model.requests[1]) == ["do it", "new question"]
        assert nudges(at) == 0


async def test_interactive_never_nudges(tmp_path: Path) -> None:
    """B14"""
    async with scene(tmp_path, [text("Shall I go on?")]) as at:
        await at.prompt("do it")
        assert nudges(at) == 0
        assert len(at.model.requests) == 1


async def test_plan_mode_never_nudges(tmp_path: Path) -> None:
    """B14"""
    async with scene(tmp_path, [text("Here is my plan.")], mode="plan") as at:
        await at.prompt("do it")
        assert nudges(at) == 0
        assert len(at.model.requests) == 1


async def test_a_nudge_is_a_synthetic_user_message_with_a_turn_count_of_its_own(tmp_path: Path) -> None:
    async with scene(tmp_path, [text("half"), DONE], mode="autopilot") as at:
        await at.prompt("do it")
        nudge = at.all(UserMessage)[1]
        assert (nudge.content, nudge.transformed_content, nudge.source) == ("", NUDGE, "autopilot")
        assert words(at.model.requests[1]) == ["do it", NUDGE]
        assert at.all(TaskComplete) == [TaskComplete(True, "all of it")]


async def test_a_run_that_calls_tools_is_progress_and_the_total_is_bounded(tmp_path: Path) -> None:
    script = [step for n in range(60) for step in (calls((f"c{n}", "ok", "{}")), text("more to do"))]
    async with scene(tmp_path, script, mode="autopilot", tools=app_tools("ok")) as at:
        at.client.on_event = answer_everything(at.session)
        await at.prompt("do it")
        assert nudges(at) == 50
        assert at.all(AutopilotStopped) == [AutopilotStopped("cap_reached")]


async def test_the_bounds_are_options(tmp_path: Path) -> None:
    script = [text("hm")] * 10
    async with scene(tmp_path, script, mode="autopilot", autopilot=AutopilotLimits(2, 50)) as at:
        await at.prompt("do it")
        assert nudges(at) == 2
    limits = AutopilotLimits(max_idle_continuations=5, max_continuations=3)
    async with scene(tmp_path, script, mode="autopilot", autopilot=limits) as at:
        await at.prompt("do it")
        assert nudges(at) == 3


async def test_the_count_of_nudges_starts_again_with_each_prompt(tmp_path: Path) -> None:
    async with scene(tmp_path, [text("hm")] * 20, mode="autopilot", autopilot=AutopilotLimits(2, 50)) as at:
        await at.prompt("one")
        await at.prompt("two")
        assert nudges(at) == 4


async def test_an_abort_is_followed_by_no_nudge(tmp_path: Path) -> None:
    async def aborted(request: ModelRequest) -> Reply:
        at.session.abort()
        return text("half a reply")

    async with scene(tmp_path, [aborted], mode="autopilot") as at:
        await at.prompt("do it")
        assert nudges(at) == 0
        assert len(at.model.requests) == 1
