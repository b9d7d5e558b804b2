"""Commands of tools: none waits for input, holds up its turn, or outlives an abort."""

import os
import signal
from pathlib import Path

import anyio
import pytest

from tests.cases.scene import results, scene
from tests.engine.harness import app_tools, say
from turnwright.engine.tool_calls.external_tool import Answer
from turnwright.protocol import wire
from turnwright.protocol.events.questions import ExternalToolRequested
from turnwright.protocol.events.session import Idle
from turnwright.protocol.messages import Reply
from turnwright.providers.scripted import calls, text
from turnwright.store.history import INTERRUPTED
from turnwright.tools.builtin import machine_tools

pytestmark = pytest.mark.anyio

PROMPTLY = 5.0
"""Seconds that tell what is over at once from what waits for a sleep of a minute, also on a busy machine."""


def bash(command: str, call_id: str = "a") -> Reply:
    """A reply that asks for one command."""
    return calls((call_id, "bash", wire.encode({"command": command}).decode()))


@pytest.mark.parametrize("command", ["read x; echo got", "python3", "cat </dev/tty", "cat"])
async def test_a_command_that_waits_for_input_ends_at_once(tmp_path: Path, command: str) -> None:
    """B55"""
    script = [bash(command), text("no input")]
    environment = {"PATH": os.environ["PATH"]}
    async with scene(tmp_path, script, machine=machine_tools(), environment=environment) as at:
        at.session.permissions.approve_all = True
        with anyio.fail_after(PROMPTLY):
            await at.prompt("ask me")
        assert "<exited with exit code" in results(at.model.requests[1])["a"]


async def test_a_background_child_that_holds_the_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """B56"""
    script = [bash("sleep 60 & echo hi $!"), text("hello")]
    async with scene(tmp_path, script, machine=machine_tools()) as at:
        at.session.permissions.approve_all = True
        with anyio.fail_after(PROMPTLY):
            await at.prompt("greet")
        greeting, _, child = results(at.model.requests[1])["a"].splitlines()[0].partition(" ")
        assert greeting == "hi"
        os.kill(int(child), signal.SIGKILL)


async def test_an_abort_ends_a_running_command_and_its_children_at_once(tmp_path: Path) -> None:
    """B56"""
    script = [bash("trap '' TERM; sleep 61 & echo started $!; wait"), text("again")]
    async with scene(tmp_path, script, machine=machine_tools()) as at:
        at.session.permissions.approve_all = True
        say(at.session, "sleep")
        await at.client.until("tool.execution_partial_result")
        with anyio.fail_after(PROMPTLY):
            at.session.abort()
            await at.client.until("session.idle")
        await at.prompt("and now?")
        assert results(at.model.requests[1]) == {"a": INTERRUPTED}


async def test_an_abort_answers_a_running_tool_of_the_app_and_its_late_result_is_ignored(
    tmp_path: Path,
) -> None:
    """B59"""
    async with scene(tmp_path, [calls(("a", "slow", "{}"))], tools=app_tools("slow")) as at:
        say(at.session, "go")
        await at.client.until("external_tool.requested")
        with anyio.fail_after(PROMPTLY):
            at.session.abort()
            await at.client.until("session.idle")
        assert at.all(Idle) == [Idle(aborted=True)]
        request_id = at.all(ExternalToolRequested)[0].request_id
        seen = len(at.client.events)
        assert at.session.questions.answer(request_id, Answer("late")) is False
        assert len(at.client.events) == seen
        assert at.client.count("tool.execution_complete") == 1


async def test_sessions_that_end_while_a_command_runs_leave_no_process(tmp_path: Path) -> None:
    """B60, its MCP servers aside: every test is checked for children that it leaves."""
    for _ in range(5):
        async with scene(tmp_path, [bash("sh -c 'sleep 62'; true")], machine=machine_tools()) as at:
            at.session.permissions.approve_all = True
            say(at.session, "sleep")
            await at.client.until("tool.execution_start")
            await at.runtime.unload(at.session.id)
