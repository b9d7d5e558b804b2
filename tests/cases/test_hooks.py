"""Hooks that answer in the wrong shape: before a tool that is a no, elsewhere it changes nothing."""

from pathlib import Path

import pytest

from tests.cases.local_tool import LocalTool
from tests.cases.scene import results, scene
from tests.engine.harness import Recorder
from turnwright.protocol.events.tools import HookEnd
from turnwright.protocol.wire import Json
from turnwright.providers.scripted import calls, text

pytestmark = pytest.mark.anyio

WRONG: list[Json] = [
    {"output": {"modifiedArgs": "str"}},
    {"output": {"permissionDecision": "perhaps"}},
    {"output": {"additionalContext": 5}},
    {"output": []},
    {"output": "x"},
    {"output": 3},
    [],
    "x",
    3,
]


def hooks_that_answer(hook: str, answer: Json) -> Recorder:
    """A client whose hook of one kind answers so; the others change nothing."""
    client = Recorder()
    client.handlers["hooks.invoke"] = lambda params: answer if _kind(params) == hook else {}
    return client


def _kind(params: Json) -> str:
    return params["hookType"]


@pytest.mark.parametrize("answer", WRONG)
async def test_a_hook_before_a_tool_that_answers_in_the_wrong_shape_is_a_denial(
    tmp_path: Path, answer: Json, caplog: pytest.LogCaptureFixture
) -> None:
    """B80"""
    client = hooks_that_answer("preToolUse", answer)
    script = [calls(("a", "ok", "{}")), text("I may not")]
    async with scene(tmp_path, script, machine=[LocalTool("ok")], client=client, hooks=True) as at:
        await at.prompt("go")
        assert results(at.model.requests[1]) == {
            "a": "Denied because the preToolUse hook: its answer has the wrong shape"
        }
        assert at.client.types[-1] == "session.idle"
        assert at.client.count("session.error") == 0
        assert sum(not end.success for end in at.all(HookEnd)) == 1
        assert "preToolUse hook" in caplog.text


@pytest.mark.parametrize("hook", ["sessionStart", "userPromptSubmitted", "postToolUse", "agentStop"])
@pytest.mark.parametrize("answer", WRONG[2:])
async def test_other_hooks_that_answer_in_the_wrong_shape_change_nothing(
    tmp_path: Path, hook: str, answer: Json, caplog: pytest.LogCaptureFixture
) -> None:
    """B80"""
    if hook == "agentStop" and answer == WRONG[2]:
        answer = {"output": {"decision": 5}}
    script = [calls(("a", "ok", "{}")), text("fine")]
    client = hooks_that_answer(hook, answer)
    async with scene(tmp_path, script, machine=[LocalTool("ok")], client=client, hooks=True) as at:
        await at.prompt("go")
        assert results(at.model.requests[1]) == {"a": "ok"}
        assert at.said() == ["go"]
        assert at.client.types[-1] == "session.idle"
        assert at.client.count("session.error") == 0
        assert f"{hook} hook" in caplog.text
