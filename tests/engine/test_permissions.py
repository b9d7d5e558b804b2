"""How long a decision holds, and for what."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cases.scene import Scene, results, scene
from tests.engine.harness import Recorder, say
from turnwright.engine.permissions.permissions import Decision
from turnwright.engine.session import Session
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.questions import PermissionCompleted, PermissionRequested
from turnwright.protocol.events.session import Abort
from turnwright.protocol.messages import Reply
from turnwright.providers.scripted import calls, text
from turnwright.store.memory import MemoryStore
from turnwright.tools.builtin import machine_tools

pytestmark = pytest.mark.anyio


def deciding(session: Session, decision: Decision) -> Callable[[Event], None]:
    """Give every permission question the same answer."""

    def react(event: Event) -> None:
        if isinstance(event.data, PermissionRequested):
            session.questions.answer(event.data.request_id, decision)

    return react


def run(command: str, call_id: str) -> Reply:
    return calls((call_id, "bash", f'{{"command":"{command}"}}'))


async def prompted(at: Scene, decision: Decision) -> list[str]:
    """Send a prompt with every question answered so; how each was settled."""
    before = len(at.all(PermissionCompleted))
    at.client.on_event = deciding(at.session, decision)
    await at.prompt("go")
    return [settled.result.kind for settled in at.all(PermissionCompleted)[before:]]


SCRIPT = [
    run("echo one", "a"),
    text("."),
    run("echo one", "b"),
    text("."),
    run("echo two", "c"),
    text("."),
]


@pytest.mark.parametrize(
    ("decision", "settled"),
    [
        ("approve-once", [["approved"], ["approved"], ["approved"]]),
        ("approve-for-session", [["approved-for-session"], [], ["approved-for-session"]]),
        ("approve-for-location", [["approved-for-location"], [], ["approved-for-location"]]),
        ("approve-permanently", [["approved"], [], ["approved"]]),
    ],
)
async def test_a_decision_holds_for_the_same_command_as_long_as_it_says(
    tmp_path: Path, decision: str, settled: list[list[str]]
) -> None:
    async with scene(tmp_path, SCRIPT, machine=machine_tools(), request_permission=True) as at:
        assert [await prompted(at, Decision(decision)) for _ in range(3)] == settled


@pytest.mark.parametrize(
    ("decision", "elsewhere", "asked"),
    [
        ("approve-for-session", False, 1),
        ("approve-for-location", False, 0),
        ("approve-for-location", True, 1),
        ("approve-permanently", True, 0),
    ],
)
async def test_another_session_is_asked_again_unless_the_decision_was_kept(
    tmp_path: Path, decision: str, elsewhere: bool, asked: int
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    store = MemoryStore(tmp_path / "state")
    settings: dict[str, Any] = {"machine": machine_tools(), "store": store, "request_permission": True}
    async with scene(tmp_path, SCRIPT, **settings) as at:
        await prompted(at, Decision(decision))
    place: dict[str, Any] = {"working_directory": str(other)} if elsewhere else {}
    async with scene(tmp_path, SCRIPT, **settings, **place) as at:
        assert len(await prompted(at, Decision("approve-once"))) == asked


async def test_what_is_kept_is_private_and_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    kept = tmp_path / "turnwright" / "approvals.json"
    kept.parent.mkdir()
    kept.write_text("[1, 2")
    async with scene(tmp_path, SCRIPT, machine=machine_tools(), request_permission=True) as at:
        assert len(await prompted(at, Decision("approve-for-location"))) == 1
        assert await prompted(at, Decision("reject")) == []
    assert kept.stat().st_mode & 0o077 == 0
    assert kept.with_suffix(".bad").read_text() == "[1, 2"


async def test_a_class_of_requests_can_be_allowed_for_the_session(tmp_path: Path) -> None:
    script = [
        calls(("a", "create", '{"path":"a.txt","file_text":"x"}')),
        text("."),
        calls(("b", "create", '{"path":"b.txt","file_text":"x"}')),
        text("."),
        run("echo one", "c"),
        text("."),
    ]
    async with scene(tmp_path, script, machine=machine_tools(), request_permission=True) as at:
        decision = Decision("approve-for-session", approval={"kind": "write"})
        assert [len(await prompted(at, decision)) for _ in range(3)] == [1, 0, 1]
        at.session.permissions.approvals.reset()


async def test_a_rejection_ends_the_run_and_its_feedback_reaches_the_model_with_the_next_prompt(
    tmp_path: Path,
) -> None:
    script = [run("echo one", "a"), text("I'll use printf")]
    async with scene(tmp_path, script, machine=machine_tools(), request_permission=True) as at:
        kinds = await prompted(at, Decision("reject", feedback="use printf"))
        assert kinds == ["denied-interactively-by-user"]
        assert len(at.model.requests) == 1
        error = at.completions()["a"].error
        assert error is not None
        assert error.code == "rejected"
        await at.prompt("go on")
        told = results(at.model.requests[1])["a"]
        assert told == "The user rejected this tool call. The user said: use printf"


async def test_an_absent_user_is_a_denial_and_the_run_goes_on(tmp_path: Path) -> None:
    async with scene(tmp_path, SCRIPT, machine=machine_tools(), request_permission=True) as at:
        kinds = await prompted(at, Decision("user-not-available"))
        assert kinds == ["denied-no-approval-rule-and-could-not-request-from-user"]
        assert len(at.model.requests) == 2


async def test_questions_of_calls_that_run_side_by_side_are_open_at_once(tmp_path: Path) -> None:
    both = calls(("a", "bash", '{"command":"echo one"}'), ("b", "bash", '{"command":"echo two"}'))
    async with scene(tmp_path, [both, text(".")], machine=machine_tools(), request_permission=True) as at:
        open_questions: list[str] = []

        def react(event: Event) -> None:
            if isinstance(event.data, PermissionRequested):
                open_questions.append(event.data.request_id)
                if len(open_questions) == 2:
                    for request_id in reversed(open_questions):
                        at.session.questions.answer(request_id, Decision("approve-once"))

        at.client.on_event = react
        await at.prompt("go")
        told = results(at.model.requests[1])
        assert [text.splitlines()[0] for text in told.values()] == ["one", "two"]


async def test_an_abort_cancels_an_open_question_and_a_late_answer_is_refused(tmp_path: Path) -> None:
    client = Recorder()
    async with scene(tmp_path, SCRIPT, machine=machine_tools(), client=client, request_permission=True) as at:
        say(at.session, "go")
        await client.until("permission.requested")
        at.session.abort()
        await client.until("session.idle")
        (asked,) = at.all(PermissionRequested)
        assert [settled.result.kind for settled in at.all(PermissionCompleted)] == ["cancelled"]
        assert not at.session.questions.answer(asked.request_id, Decision("approve-once"))
        assert len(at.all(Abort)) == 1


async def test_everything_can_be_allowed_at_once_and_forbidden_again(tmp_path: Path) -> None:
    async with scene(tmp_path, SCRIPT, machine=machine_tools(), request_permission=True) as at:
        at.session.permissions.approve_all = True
        assert await prompted(at, Decision("reject")) == []
        at.session.permissions.approve_all = False
        assert await prompted(at, Decision("approve-once")) == ["approved"]


async def test_reading_inside_the_folder_is_asked_only_when_there_is_someone_to_ask(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    for asks in (True, False):
        script = [calls(("a", "view", '{"path":"a.txt"}')), text(".")]
        async with scene(tmp_path, script, machine=machine_tools(), request_permission=asks) as at:
            settled = await prompted(at, Decision("approve-once"))
            assert len(settled) == int(asks)
            assert results(at.model.requests[1]) == {"a": "1. hello"}
