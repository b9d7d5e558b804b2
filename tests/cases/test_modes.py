"""Plan mode writes nothing until the plan is approved; `task_complete` is honoured in every mode."""

from pathlib import Path
from typing import Any

import pytest

from tests.cases.scene import Scene, offered, results, scene
from tests.engine.harness import Recorder, answer_everything
from turnwright.engine.inbox import Prompt
from turnwright.protocol.events.session import Mode, ModeChanged, TaskComplete
from turnwright.providers.scripted import calls, text
from turnwright.tools.builtin import machine_tools

pytestmark = pytest.mark.anyio

EDIT = '{"path": "a.txt", "old_str": "old", "new_str": "new"}'
PLANNING: dict[str, Any] = {"mode": "plan", "request_exit_plan_mode": True, "request_permission": True}


def user_who_answers(answer: dict[str, Any]) -> Recorder:
    """A client whose user answers so when the plan is shown."""
    client = Recorder()
    client.handlers["exitPlanMode.request"] = lambda params: answer
    return client


def told_to_plan(scene: Scene, request: int) -> bool:
    """Whether the system prompt of a request speaks of plan mode."""
    return "plan mode" in scene.model.requests[request].system


async def test_an_approved_plan_ends_plan_mode_before_the_next_request(tmp_path: Path) -> None:
    """B15"""
    file = tmp_path / "a.txt"
    file.write_text("old\n")
    script = [
        calls(("a", "edit", EDIT)),
        calls(("b", "exit_plan_mode", '{"summary": "change a.txt"}')),
        calls(("c", "edit", EDIT)),
        text("done"),
    ]
    client = user_who_answers({"approved": True, "selectedAction": "interactive"})
    async with scene(tmp_path, script, machine=machine_tools(), client=client, **PLANNING) as at:
        client.on_event = answer_everything(at.session)
        await at.prompt("plan it")
        told = results(at.model.requests[3])
        assert "refused in plan mode" in told["a"]
        assert told["b"].startswith("Plan approved! Exited plan mode.")
        assert at.completions()["c"].success
        assert file.read_text() == "new\n"
        assert [told_to_plan(at, n) for n in range(4)] == [True, True, False, False]
        assert at.all(ModeChanged) == [
            ModeChanged("interactive", "plan"),
            ModeChanged("plan", "interactive"),
        ]


async def test_a_rejected_plan_stays_in_plan_mode_and_the_feedback_reaches_the_model(
    tmp_path: Path,
) -> None:
    """B15"""
    file = tmp_path / "a.txt"
    file.write_text("old\n")
    script = [
        calls(("a", "exit_plan_mode", '{"summary": "change a.txt"}')),
        calls(("b", "edit", EDIT)),
        text("as you wish"),
    ]
    client = user_who_answers({"approved": False, "feedback": "tests first"})
    async with scene(tmp_path, script, machine=machine_tools(), client=client, **PLANNING) as at:
        client.on_event = answer_everything(at.session)
        await at.prompt("plan it")
        told = results(at.model.requests[2])
        assert "tests first" in told["a"]
        assert "refused in plan mode" in told["b"]
        assert file.read_text() == "old\n"
        assert told_to_plan(at, 2)
        assert at.session.mode == "plan"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("create", '{"path": "b.txt", "file_text": "x"}'),
        ("edit", EDIT),
        ("bash", '{"command": "touch b.txt"}'),
    ],
)
async def test_tools_that_write_are_refused_in_plan_mode_and_reading_is_not(
    tmp_path: Path, tool: str, arguments: str
) -> None:
    """B15"""
    (tmp_path / "a.txt").write_text("old\n")
    script = [calls(("w", tool, arguments), ("r", "view", '{"path": "a.txt"}')), text("a plan")]
    async with scene(tmp_path, script, machine=machine_tools(), mode="plan") as at:
        at.session.permissions.approve_all = True
        await at.prompt("plan it")
        assert {call: done.success for call, done in at.completions().items()} == {"w": False, "r": True}
        assert (tmp_path / "a.txt").read_text() == "old\n"
        assert not (tmp_path / "b.txt").exists()


@pytest.mark.parametrize("mode", ["interactive", "plan", "autopilot"])
async def test_task_complete_is_honoured_in_every_mode_and_ends_the_run(tmp_path: Path, mode: Mode) -> None:
    script = [calls(("a", "task_complete", '{"summary": "it is done"}')), text("never asked for")]
    async with scene(tmp_path, script, mode=mode, available_tools=["task_complete"]) as at:
        await at.prompt("do it")
        assert at.all(TaskComplete) == [TaskComplete(True, "it is done")]
        assert len(at.model.requests) == 1
        assert at.client.types[-1] == "session.idle"
        events = at.session.journal.events()
        assert [event.data for event in events if event.type == "session.task_complete"] == [
            TaskComplete(True, "it is done")
        ]


@pytest.mark.parametrize(
    ("mode", "filters", "is_offered"),
    [
        ("interactive", {}, False),
        ("interactive", {"available_tools": ["view"]}, False),
        ("interactive", {"available_tools": ["view", "task_complete"]}, True),
        ("interactive", {"available_tools": ["builtin:task_complete"]}, True),
        ("plan", {}, False),
        ("plan", {"available_tools": ["task_complete"]}, True),
        ("autopilot", {}, True),
        ("autopilot", {"available_tools": []}, True),
        ("autopilot", {"available_tools": ["view"], "excluded_tools": ["task_complete"]}, True),
    ],
)
async def test_the_completion_tool_is_always_offered_in_autopilot_and_elsewhere_when_listed(
    tmp_path: Path, mode: Mode, filters: dict[str, Any], is_offered: bool
) -> None:
    script = [calls(("a", "task_complete", "{}")), text("there is no such tool")]
    async with scene(tmp_path, script, mode=mode, **filters) as at:
        await at.prompt("do it")
        assert ("task_complete" in offered(at.model.requests[0])) is is_offered
        assert at.client.count("session.task_complete") == is_offered


async def test_the_mode_of_one_message_is_that_of_its_run_alone(tmp_path: Path) -> None:
    async with scene(tmp_path, [calls(("a", "task_complete", "{}")), text("hi")]) as at:
        at.session.send(Prompt(message_id="m", text="do it", agent_mode="autopilot"))
        await at.client.until("session.idle")
        await at.prompt("and now?")
        assert ["task_complete" in offered(request) for request in at.model.requests] == [True, False]
        assert at.all(ModeChanged) == []
