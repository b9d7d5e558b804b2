"""What may run: nobody to ask is a no, rules look at the whole command, links lead nowhere else."""

from pathlib import Path
from typing import NoReturn

import pytest

from tests.cases.scene import results, scene
from turnwright import Client, Invocation, PermissionRequest, UserQuestion, tool
from turnwright.engine.permissions.permissions import Decision
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.questions import PermissionCompleted, PermissionRequested
from turnwright.protocol.messages import Reply
from turnwright.providers.scripted import Scripted, calls, text
from turnwright.tools.builtin import machine_tools

pytestmark = pytest.mark.anyio

CREATE = calls(("a", "create", '{"path": "new.txt", "file_text": "x"}'))
DENIED = "denied-no-approval-rule-and-could-not-request-from-user"


def one_call(name: str, **arguments: object) -> Reply:
    """A reply that asks for one tool, as call `a`."""
    return calls(("a", name, wire.encode(arguments).decode()))


async def test_without_a_handler_writing_is_denied_and_the_run_goes_on(tmp_path: Path) -> None:
    """B71"""
    async with scene(tmp_path, [CREATE, text("I may not")], machine=machine_tools()) as at:
        await at.prompt("write")
        told = results(at.model.requests[1])
        assert told == {"a": "Permission denied and could not request permission from user"}
        assert not (tmp_path / "new.txt").exists()
        assert at.client.count("permission.requested") == 0


async def test_a_permission_handler_that_raises_is_a_denial(tmp_path: Path) -> None:
    """B71"""

    def on_permission(request: PermissionRequest, invocation: Invocation) -> NoReturn:
        raise RuntimeError("a bug in the app")

    model = Scripted([CREATE, text("I may not")])
    async with Client(provider=model, home=tmp_path / "home") as client:
        session = await client.create_session(working_directory=tmp_path, on_permission=on_permission)
        reply = await session.send_and_wait("write", timeout=10)
        assert reply.data.content == "I may not"
        settled = [
            e.data.result.kind for e in await session.get_events() if isinstance(e.data, PermissionCompleted)
        ]
        assert settled == [DENIED]
    assert results(model.requests[1]) == {"a": "Permission denied and could not request permission from user"}


async def test_an_ask_user_handler_that_raises_is_told_to_the_model(tmp_path: Path) -> None:
    """B71"""

    def on_user_input(question: UserQuestion, invocation: Invocation) -> NoReturn:
        raise RuntimeError("a bug in the app")

    model = Scripted([calls(("a", "ask_user", '{"question": "which?"}')), text("I decide")])
    async with Client(provider=model, home=tmp_path / "home") as client:
        session = await client.create_session(working_directory=tmp_path, on_user_input=on_user_input)
        reply = await session.send_and_wait("choose", timeout=10)
        assert reply.data.content == "I decide"
    assert results(model.requests[1])["a"].startswith("The user can't be asked now.")


async def test_a_tool_of_the_app_that_raises_is_told_to_the_model(tmp_path: Path) -> None:
    """B71"""

    @tool(skip_permission=True)
    def breaks() -> str:
        """Break."""
        raise RuntimeError("a bug in the app")

    model = Scripted([calls(("a", "breaks", "{}")), text("a pity")])
    async with Client(provider=model, home=tmp_path / "home") as client:
        session = await client.create_session(working_directory=tmp_path, tools=[breaks])
        assert (await session.send_and_wait("break", timeout=10)).data.content == "a pity"
    assert list(results(model.requests[1])) == ["a"]


@pytest.mark.parametrize("kind", ["user-not-available", "of-a-later-version"])
async def test_an_answer_that_allows_nothing_is_a_denial(tmp_path: Path, kind: str) -> None:
    """B71"""
    async with scene(
        tmp_path, [CREATE, text("I may not")], machine=machine_tools(), request_permission=True
    ) as at:

        def answer(event: Event) -> None:
            if isinstance(event.data, PermissionRequested):
                at.session.questions.answer(event.data.request_id, Decision(kind))

        at.client.on_event = answer
        await at.prompt("write")
        assert [done.result.kind for done in at.all(PermissionCompleted)] == [DENIED]
        assert len(at.model.requests) == 2
        assert not (tmp_path / "new.txt").exists()


CHAINED = [
    "git status && touch made",
    "git status; touch made",
    "git status | tee made",
    "git status || touch made",
    "git status & touch made",
    "git status\ntouch made",
    "git status $(touch made)",
    "git status `touch made`",
    "git status > made",
    "git status <(touch made)",
    "X=$(touch made) git status",
    "git status && (touch made)",
    "git -c alias.status='!touch made' status",
]


@pytest.mark.parametrize("command", CHAINED)
async def test_a_rule_for_one_command_allows_nothing_that_is_chained_to_it(
    tmp_path: Path, command: str
) -> None:
    """B74"""
    script = [one_call("bash", command=command), text("I may not")]
    async with scene(
        tmp_path,
        script,
        machine=machine_tools(),
        allow_tools=["shell(git status)"],
        request_permission=True,
    ) as at:

        def deny(event: Event) -> None:
            if isinstance(event.data, PermissionRequested):
                at.session.questions.answer(event.data.request_id, Decision("user-not-available"))

        at.client.on_event = deny
        await at.prompt("go")
        assert at.client.count("permission.requested") == 1
        assert not at.completions()["a"].success
        assert not (tmp_path / "made").exists()


async def test_a_rule_allows_its_command_without_asking(tmp_path: Path) -> None:
    """B74"""
    script = [one_call("bash", command="git status"), text("fine")]
    async with scene(
        tmp_path,
        script,
        machine=machine_tools(),
        allow_tools=["shell(git status)"],
        request_permission=True,
    ) as at:
        await at.prompt("go")
        assert at.client.count("permission.requested") == 0
        assert at.completions()["a"].success


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with a link that leads out, `out`, and one that stays inside, `in`."""
    outside, inside = tmp_path / "outside", tmp_path / "ws"
    for folder in (outside, inside / "real"):
        folder.mkdir(parents=True)
        (folder / "x.txt").write_text("old")
    (inside / "out").symlink_to(outside)
    (inside / "in").symlink_to(inside / "real")
    return inside


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("view", {"path": "out/x.txt"}),
        ("view", {"path": "out"}),
        ("create", {"path": "out/new.txt", "file_text": "x"}),
        ("edit", {"path": "out/x.txt", "old_str": "old", "new_str": "new"}),
        ("view", {"path": "in/../out/x.txt"}),
    ],
)
@pytest.mark.parametrize("linked_root", [False, True])
async def test_a_link_out_of_the_working_directory_is_not_followed(
    tmp_path: Path, workspace: Path, name: str, arguments: dict[str, str], linked_root: bool
) -> None:
    """B76"""
    root = workspace
    if linked_root:
        root = tmp_path / "link-to-ws"
        root.symlink_to(workspace)
    script = [one_call(name, **arguments), text("no")]
    async with scene(tmp_path, script, machine=machine_tools(), working_directory=str(root)) as at:
        at.session.permissions.approve_all = True
        await at.prompt("go")
        assert "outside of the working directory" in results(at.model.requests[1])["a"]
        assert {file.name: file.read_text() for file in (tmp_path / "outside").iterdir()} == {"x.txt": "old"}


async def test_reading_through_a_link_that_leads_out_is_not_allowed_without_asking(
    tmp_path: Path, workspace: Path
) -> None:
    """B76"""
    script = [one_call("view", path=str(workspace / "out" / "x.txt")), text("no")]
    async with scene(tmp_path, script, machine=machine_tools(), working_directory=str(workspace)) as at:
        await at.prompt("go")
        assert not at.completions()["a"].success


async def test_links_that_stay_inside_the_working_directory_work(tmp_path: Path, workspace: Path) -> None:
    """B76"""
    link = tmp_path / "link-to-ws"
    link.symlink_to(workspace)
    script = [
        calls(
            ("a", "view", '{"path": "in/x.txt"}'),
            ("b", "create", '{"path": "in/new.txt", "file_text": "x"}'),
            ("c", "edit", '{"path": "in/x.txt", "old_str": "old", "new_str": "new"}'),
        ),
        text("fine"),
    ]
    async with scene(tmp_path, script, machine=machine_tools(), working_directory=str(link)) as at:
        at.session.permissions.approve_all = True
        await at.prompt("go")
        assert all(done.success for done in at.completions().values())
        assert (workspace / "real" / "new.txt").read_text() == "x"
        assert (workspace / "real" / "x.txt").read_text() == "new"
