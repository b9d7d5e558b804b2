"""What the runtime asks of the app: tools, permissions, the user, plans and hooks."""

import logging
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.client.runtimes import Heard, in_process
from turnwright import (
    Hooks,
    Invocation,
    PermissionDecision,
    PermissionRequest,
    Plan,
    PlanDecision,
    ToolResult,
    UserAnswer,
    UserQuestion,
    approve_all,
    reject,
    tool,
)
from turnwright.client.handlers import PermissionHandler, UserInputHandler
from turnwright.protocol.messages import ToolOutput
from turnwright.providers.scripted import Scripted, calls, text

pytestmark = pytest.mark.anyio

TOUCH = ("a", "bash", '{"command": "touch made", "description": "Touch"}')


def outputs(model: Scripted) -> list[str]:
    """The tool results that the model got last."""
    return [m.content for m in model.requests[-1].messages if isinstance(m, ToolOutput)]


async def test_the_apps_tools_run_side_by_side_and_their_results_reach_the_model(tmp_path: Path) -> None:
    """B20: one fails for itself alone; results keep the order of the calls."""
    model = Scripted([calls(("a", "wait", "{}"), ("b", "fail", "{}"), ("c", "free", "{}")), text("done")])
    freed = anyio.Event()

    @tool(skip_permission=True)
    async def wait() -> str:
        await freed.wait()
        return "waited"

    @tool(skip_permission=True)
    def fail() -> str:
        raise ValueError("no luck")

    @tool(skip_permission=True)
    async def free(invocation: Invocation) -> ToolResult:
        freed.set()
        return ToolResult(f"freed by {invocation.tool_call_id}", session_log="for people")

    tools = [wait, fail, free]
    async with in_process(model, tmp_path) as client, await client.create_session(tools=tools) as session:
        assert (await session.send_and_wait("go")).data.content == "done"
    assert outputs(model) == ["waited", "no luck", "freed by c"]


async def test_a_tool_that_isnt_async_runs_in_a_thread(tmp_path: Path) -> None:
    model = Scripted([calls(("a", "where", "{}")), text("done")])

    @tool(skip_permission=True)
    def where() -> bool:
        return threading.current_thread() is threading.main_thread()

    async with in_process(model, tmp_path) as client, await client.create_session(tools=[where]) as session:
        await session.send_and_wait("go")
    assert outputs(model) == ["false"]


async def test_an_abort_cancels_the_apps_tool_and_its_call_is_answered(tmp_path: Path) -> None:
    """B59, B92."""
    model = Scripted([calls(("a", "wait", "{}")), text("after")])
    running, cancelled = anyio.Event(), anyio.Event()

    @tool(skip_permission=True)
    async def wait() -> str:
        running.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()
        return "never"

    async with in_process(model, tmp_path) as client, await client.create_session(tools=[wait]) as session:
        heard = Heard(session)
        await session.send("go")
        await running.wait()
        with anyio.fail_after(1):
            await session.abort()
            await cancelled.wait()
            await heard.until("session.idle")
        wanted = ("external_tool.completed", "tool.execution_complete", "assistant.turn_end", "session.idle")
        assert [type for type in heard.types if type in wanted] == list(wanted)
        assert (await session.send_and_wait("go on")).data.content == "after"


async def test_a_late_answer_of_an_aborted_tool_changes_nothing(tmp_path: Path) -> None:
    """B59: a thread can't be stopped, but what it returns is dropped."""
    model = Scripted([calls(("a", "stubborn", "{}")), text("after")])
    running, go = anyio.Event(), threading.Event()

    @tool(skip_permission=True)
    def stubborn() -> str:
        anyio.from_thread.run_sync(running.set)
        go.wait(10)
        return "late"

    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(tools=[stubborn]) as session,
    ):
        heard = Heard(session)
        await session.send("go")
        await running.wait()
        await session.abort()
        await heard.until("session.idle")
        go.set()
        await session.send_and_wait("go on")
        assert heard.types.count("tool.execution_complete") == 1
    assert outputs(model) == ["The execution of this tool, or a previous tool was interrupted."]


async def sync_less(request: PermissionRequest, invocation: Invocation) -> Any:
    return PermissionDecision("approve-once")


def in_a_thread(request: PermissionRequest, invocation: Invocation) -> Any:
    assert threading.current_thread() is not threading.main_thread()
    return "approve-once"


def raises(request: PermissionRequest, invocation: Invocation) -> Any:
    raise RuntimeError("the dialog is broken")


def says_nothing(request: PermissionRequest, invocation: Invocation) -> Any:
    return None


@pytest.mark.parametrize(
    ("handler", "made"),
    [
        (approve_all, True),
        (sync_less, True),
        (in_a_thread, True),
        (raises, False),
        (says_nothing, False),
        (None, False),
    ],
)
async def test_nothing_is_done_unless_the_app_allows_it(
    handler: PermissionHandler | None, made: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """B71: a handler that raises is a denial, and the model hears of it."""
    model = Scripted([calls(TOUCH), text("done")])
    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(on_permission=handler, working_directory=tmp_path) as session,
    ):
        assert (await session.send_and_wait("go")).data.content == "done"
    assert (tmp_path / "made").exists() == made
    if not made:
        assert outputs(model) == ["Permission denied and could not request permission from user"]


async def test_a_permission_handler_sees_what_is_asked(tmp_path: Path) -> None:
    model = Scripted([calls(TOUCH), text("done")])
    asked: list[tuple[str, str | None]] = []

    def on_permission(request: PermissionRequest, invocation: Invocation) -> PermissionDecision:
        asked.append((getattr(request, "full_command_text", ""), invocation.tool_call_id))
        return reject("not here")

    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(on_permission=on_permission, working_directory=tmp_path) as session,
    ):
        heard = Heard(session)
        await session.send_and_wait("go")
        completed = (await heard.until("tool.execution_complete")).data
    assert asked == [("touch made", "a")]
    assert len(model.requests) == 1
    assert "not here" in getattr(getattr(completed, "error", None), "message", "")


async def test_a_question_left_open_is_answered_once_the_session_is_resumed(tmp_path: Path) -> None:
    model = Scripted([calls(TOUCH), text("done")])

    def leaves_it(request: PermissionRequest, invocation: Invocation) -> Any:
        return "no-result"

    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(on_permission=leaves_it, working_directory=tmp_path) as session,
    ):
        heard = Heard(session)
        await session.send("go")
        await heard.until("permission.requested")
        await session.get_events()
        assert "permission.completed" not in heard.types
        await session.disconnect()
        await client.resume_session(
            session.id, on_permission=approve_all, on_event=heard.take, continue_pending_work=True
        )
        await heard.until("session.idle")
    assert (tmp_path / "made").exists()


def answers(question: UserQuestion, invocation: Invocation) -> str:
    assert question == UserQuestion("Which?", ["red", "blue"], False)
    return "blue"


async def answers_freely(question: UserQuestion, invocation: Invocation) -> UserAnswer:
    return UserAnswer("green", was_freeform=True)


def cant_answer(question: UserQuestion, invocation: Invocation) -> str:
    raise RuntimeError("no screen")


@pytest.mark.parametrize(
    ("handler", "result"),
    [
        (answers, "User selected: blue"),
        (answers_freely, "User responded: green"),
        (cant_answer, "The user can't be asked now. Decide yourself, or say what you need to know."),
    ],
)
async def test_the_model_may_ask_the_user(
    handler: UserInputHandler, result: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """B71: a handler that raises leaves nothing pending."""
    caplog.set_level(logging.CRITICAL)
    question = '{"question": "Which?", "choices": ["red", "blue"], "allow_freeform": false}'
    model = Scripted([calls(("a", "ask_user", question)), text("done")])
    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(on_user_input=handler) as session,
    ):
        await session.send_and_wait("go")
    assert outputs(model) == [result]


async def test_an_abort_withdraws_a_question_to_the_user(tmp_path: Path) -> None:
    model = Scripted([calls(("a", "ask_user", '{"question": "Which?"}'))])
    asked, withdrawn = anyio.Event(), anyio.Event()

    async def waits(question: UserQuestion, invocation: Invocation) -> str:
        asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            withdrawn.set()
        return "never"

    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(on_user_input=waits) as session,
    ):
        heard = Heard(session)
        await session.send("go")
        await asked.wait()
        await session.abort()
        await withdrawn.wait()
        await heard.until("session.idle")


async def test_a_plan_is_put_to_the_app_and_its_word_changes_the_mode(tmp_path: Path) -> None:
    """B15."""
    leave = calls(("a", "exit_plan_mode", '{"summary": "Build it."}'))
    again = calls(("b", "exit_plan_mode", '{"summary": "Build it well."}'))
    model = Scripted([leave, again, text("building")])
    shown: list[str] = []

    def on_exit_plan(plan: Plan, invocation: Invocation) -> bool | PlanDecision:
        shown.append(plan.summary)
        if plan.summary == "Build it.":
            return PlanDecision(False, feedback="Better.")
        return True

    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(on_exit_plan=on_exit_plan, mode="plan") as session,
    ):
        await session.send_and_wait("go")
        assert session.mode == "interactive"
    assert shown == ["Build it.", "Build it well."]
    refused, approved = outputs(model)
    assert "Better." in refused
    assert approved.startswith("Plan approved! Exited plan mode.")


async def test_hooks_change_what_they_are_called_around(tmp_path: Path) -> None:
    model = Scripted([calls(("a", "echo", '{"said": "hi"}'), ("b", "other", "{}")), text("done")])
    seen: list[tuple[str, str | None]] = []

    @tool(skip_permission=True)
    def echo(said: str) -> str:
        return said

    def pre_tool_use(given: dict[str, Any], invocation: Invocation) -> dict[str, Any]:
        seen.append((given["tool_name"], given["session_id"]))
        if given["tool_name"] == "other":
            return {"permission_decision": "deny", "permission_decision_reason": "not that"}
        return {"modified_args": {"said": "ho"}}

    async def post_tool_use(given: dict[str, Any], invocation: Invocation) -> dict[str, Any]:
        return {"additional_context": "said the hook"}

    hooks = Hooks(pre_tool_use=pre_tool_use, post_tool_use=post_tool_use)
    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(tools=[echo], hooks=hooks) as session,
    ):
        await session.send_and_wait("go")
    assert sorted(seen) == [("echo", session.id), ("other", session.id)]
    assert outputs(model) == ["ho\n\nsaid the hook", "Denied by preToolUse hook: not that"]


async def test_a_hook_that_raises_before_a_tool_keeps_it_from_running(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = Scripted([calls(("a", "echo", "{}")), text("done")])
    ran: list[str] = []

    @tool(skip_permission=True)
    def echo() -> None:
        ran.append("echo")

    def breaks(given: dict[str, Any], invocation: Invocation) -> None:
        raise RuntimeError("no")

    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(tools=[echo], hooks=Hooks(pre_tool_use=breaks)) as session,
    ):
        await session.send_and_wait("go")
    assert ran == []
    assert outputs(model) == ["Denied because the preToolUse hook: it failed"]


async def test_a_tools_open_call_is_taken_up_by_the_client_that_resumes(tmp_path: Path) -> None:
    model = Scripted([calls(("a", "lookup", '{"word": "x"}')), text("done")])
    asked = anyio.Event()

    @tool(skip_permission=True)
    async def lookup(word: str) -> str:
        asked.set()
        await anyio.sleep_forever()
        return "never"

    async with in_process(model, tmp_path) as client:
        session = await client.create_session(tools=[lookup])
        await session.send("go")
        await asked.wait()

    @tool(name="lookup", skip_permission=True)
    def lookup_again(word: str) -> str:
        return f"found {word}"

    idle = anyio.Event()

    def listen(event: Any) -> None:
        if event.type == "session.idle":
            idle.set()

    async with in_process(model, tmp_path) as client:
        await client.resume_session(
            session.id, tools=[lookup_again], continue_pending_work=True, on_event=listen
        )
        await idle.wait()
    assert outputs(model) == ["found x"]
