"""Messages while a run is in hand: steering goes in before the next model call, the rest waits its turn."""

from pathlib import Path

import pytest

from tests.cases.local_tool import LocalTool
from tests.cases.scene import scene, words
from tests.engine.harness import say
from turnwright.errors import ProviderError
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.conversation import UserMessage
from turnwright.protocol.messages import Reply
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import Step, calls, text

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "moment", ["assistant.message_delta", "assistant.message", "assistant.turn_end", "assistant.idle"]
)
async def test_steering_is_never_lost_however_late_it_comes(tmp_path: Path, moment: str) -> None:
    """B84"""
    async with scene(tmp_path, [text("the whole reply"), text("I see")], streaming=True) as at:
        waiting = ["turn left"]

        def steer(event: Event) -> None:
            if event.type == moment and waiting:
                say(at.session, waiting.pop(), immediate=True)

        at.client.on_event = steer
        await at.prompt("go")
        if moment == "assistant.idle":  # the run was over: it is a prompt of its own, with an idle of its own
            await at.client.until("session.idle", 2)
        assert len(at.model.requests) == 2
        assert words(at.model.requests[1]) == ["go", "turn left"]
        assert at.said() == ["go", "turn left"]
        assert at.client.types[-1] == "session.idle"


async def test_steering_goes_in_before_the_next_model_call_of_the_run(tmp_path: Path) -> None:
    async def steered(request: ModelRequest) -> Reply:
        say(at.session, "first", immediate=True)
        say(at.session, "second", immediate=True)
        return calls(("a", "ok", "{}"))

    async with scene(tmp_path, [steered, text("I see")], machine=[LocalTool("ok")]) as at:
        await at.prompt("go")
        assert words(at.model.requests[1]) == ["go", "first", "second"]
        assert [message.delivery for message in at.all(UserMessage)] == ["idle", "steering", "steering"]
        assert at.client.count("session.idle") == 1


async def test_steering_overtakes_the_queue_and_the_queue_keeps_its_order(tmp_path: Path) -> None:
    async def busy(request: ModelRequest) -> Reply:
        say(at.session, "queued 1")
        say(at.session, "queued 2")
        say(at.session, "steer", immediate=True)
        return calls(("a", "ok", "{}"))

    script: list[Step] = [busy, text("1"), text("2"), text("3")]
    async with scene(tmp_path, script, machine=[LocalTool("ok")]) as at:
        await at.prompt("go")
        assert at.said() == ["go", "steer", "queued 1", "queued 2"]
        assert [words(request)[-1] for request in at.model.requests] == [
            "go",
            "steer",
            "queued 1",
            "queued 2",
        ]
        assert at.client.count("session.idle") == 1


@pytest.mark.parametrize("ending", ["error", "task_complete", "abort"])
async def test_steering_that_the_run_does_not_take_becomes_the_next_prompt_before_the_queue(
    tmp_path: Path, ending: str
) -> None:
    """B84"""

    async def last(request: ModelRequest) -> Reply:
        say(at.session, "queued")
        say(at.session, "steer", immediate=True)
        if ending == "error":
            raise ProviderError("no more")
        if ending == "abort":
            at.session.abort()
        return calls(("a", "task_complete", "{}"))

    script: list[Step] = [last, text("1"), text("2")]
    async with scene(tmp_path, script, available_tools=["task_complete"]) as at:
        await at.prompt("go")
        assert at.said() == ["go", "steer", "queued"]
        assert at.client.count("session.idle") == 1
        assert len(at.model.requests) == 3


async def test_steering_an_idle_session_is_a_prompt(tmp_path: Path) -> None:
    async with scene(tmp_path, [text("hello")]) as at:
        say(at.session, "hi", immediate=True)
        await at.client.until("session.idle")
        assert at.said() == ["hi"]
