"""Random changes by the model and by others, conversations begun anew, and a rewind to any prompt."""

import tempfile
from itertools import count
from pathlib import Path

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases.local_tool import LocalTool
from tests.cases.scene import Scene, scene, turns
from turnwright.engine.context_clearing import clear_context
from turnwright.engine.rewind.rewind import rewind, rewind_points
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.protocol.messages import Message, Reply
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import Step, calls, text
from turnwright.store.history import History
from turnwright.tools.base import Call, ToolResult
from turnwright.tools.builtin import machine_tools

NAMES = ["a", "b", "sub/c"]
NAME = st.sampled_from(NAMES)
PROMPTS = st.lists(st.lists(NAME, max_size=4), min_size=1, max_size=4)
"""For each prompt the files that the model changes, one after the other."""

OTHERS = st.lists(
    st.tuples(st.integers(0, 3), NAME, st.sampled_from(["write", "delete", "mode"])), max_size=4
)
"""What others do to a file after a prompt."""

Tree = dict[str, tuple[str, int]]


def tree(folder: Path) -> Tree:
    """All files with what they hold and their modes."""
    return {
        name: (path.read_text(), path.stat().st_mode & 0o777)
        for name in NAMES
        if (path := folder / name).exists()
    }


def script(folder: Path, prompts: list[list[str]], numbers: "count[int]") -> list[Step]:
    """The model's replies; each change gives a file a content that it never had."""

    def changing(name: str) -> Step:
        async def reply(request: ModelRequest) -> Reply:
            path, new = folder / name, f"the model's {next(numbers)}"
            if path.exists():
                given = {"path": name, "old_str": path.read_text(), "new_str": new}
                return calls((wire.new_id(), "edit", wire.encode(given).decode()))
            given = {"path": name, "file_text": new}
            return calls((wire.new_id(), "create", wire.encode(given).decode()))

        return reply

    return [step for names in prompts for step in (*map(changing, names), text("done"))]


def meddle(path: Path, what: str, number: int) -> None:
    """Do what others do."""
    if what == "delete":
        path.unlink(missing_ok=True)
    elif what == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"mine {number}")
    elif path.exists():
        path.chmod(0o750)


async def go_back(at: Scene, to: int) -> None:
    point = rewind_points(at.session).points[to]
    done = await rewind(at.session, point.event_id, "conversation-and-files")
    assert done.outcome == "success"
    del at.model.requests[turns(at.session.journal.events()) :]


@settings(max_examples=40, deadline=None)
@given(PROMPTS, OTHERS, st.integers(0, 3), st.booleans())
def test_files_are_what_they_were_and_nothing_of_others_is_lost(
    prompts: list[list[str]], others: list[tuple[int, str, str]], to: int, alone: bool
) -> None:
    to %= len(prompts)

    async def go() -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            numbers = count()
            trees: list[Tree] = []
            async with scene(
                folder,
                script(folder, prompts, numbers),
                machine=machine_tools(),
                allow_tools=["write"],
                enable_file_change_tracking=True,
            ) as at:
                for index in range(len(prompts)):
                    trees.append(tree(folder))
                    await at.prompt(f"prompt {index}")
                    for _, path, what in [] if alone else [one for one in others if one[0] == index]:
                        meddle(folder / path, what, next(numbers))
                before = tree(folder)
                changed = {path for names in prompts[to:] for path in names}
                await go_back(at, to)
                after = tree(folder)
            if alone:
                assert after == trees[to]
            untouched = {path: was for path, was in before.items() if path not in changed}
            assert {path: was for path, was in after.items() if path not in changed} == untouched
            mine = {path: was for path, was in before.items() if was[0].startswith("mine")}
            assert {path: after.get(path) for path in mine} == mine

    anyio.run(go)


def messages(events: list[Event]) -> list[Message]:
    """What a log says to the model."""
    history = History()
    for event in events:
        history.apply(event)
    return history.messages


@settings(max_examples=40, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=4), st.integers(0, 7), st.booleans())
def test_after_a_rewind_the_next_request_goes_on_from_what_stood_before_the_point(
    clears: list[bool], to: int, through_a_restart: bool
) -> None:
    """Prompts, some of which have a tool begin the conversation anew."""

    async def go() -> None:
        with tempfile.TemporaryDirectory() as name:
            number = count()

            async def restart(call: Call) -> ToolResult:
                clear_context(at.session, f"anew {next(number)}")
                return ToolResult("ok")

            anew = [calls(("a", "restart", "{}")), text("fresh")]
            script = [step for clears_it in clears for step in (anew if clears_it else [text("done")])]
            script.append(text("after"))
            async with scene(Path(name), script, machine=[LocalTool("restart", restart)]) as at:
                for index in range(len(clears)):
                    await at.prompt(f"prompt {index}")
                points = rewind_points(at.session).points
                point = points[to % len(points)].event_id
                events = at.session.journal.events()
                before = messages(events[: [event.id for event in events].index(point)])
                assert (await rewind(at.session, point, "conversation")).outcome == "success"
                del at.model.requests[turns(at.session.journal.events()) :]
                if through_a_restart:
                    at.session.journal.sleep()
                    at.session.journal.wake(at.runtime.store.open(at.session.id))
                await at.prompt("after")
                assert list(at.model.requests[-1].messages)[:-1] == before

    anyio.run(go)
