"""The programs in `examples`, each run as a reader would, with a server that plays the model."""

import sys
from pathlib import Path

import pytest

from tests.docs.model import ROOT, Ran, environment, ran
from turnwright.protocol.wire import Json
from turnwright.testing.chat_answers import Say, call, say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio

EXAMPLES = ROOT / "examples"


async def example(name: str, server: ChatServer, cwd: Path, *arguments: str, stdin: str = "") -> Ran:
    """Run an example to its end."""
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    return await ran(command, cwd, environment(server), stdin=stdin)


def contents(request: dict[str, Json], role: str) -> list[str]:
    """What was said in a role, oldest first."""
    return [message["content"] for message in request["messages"] if message["role"] == role]


async def test_ask_looks_into_the_folder_and_counts_its_turns(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Buy tea.\n", "utf-8")
    script = [call("view", {"path": "notes.txt"}), say("Tea is to be bought.")]
    async with ChatServer(script) as server:
        done = await example("ask.py", server, tmp_path, "What is to be done?")
    assert (done.out, done.status) == ("Tea is to be bought.\n", 0)
    assert done.err.startswith("2 turns, in ")
    assert Path(done.err.strip().rpartition(" in ")[2]).read_text("utf-8").count("assistant.turn_start") == 2
    assert contents(server.requests[1], "tool") == ["1. Buy tea.\n2. "]


async def test_own_tool_answers_the_model(tmp_path: Path) -> None:
    asked = Say(calls=[("stock", {"item": "apples"}), ("stock", {"item": "pears"})])
    async with ChatServer([asked, say("Pears.")]) as server:
        done = await example("own_tool.py", server, tmp_path)
    assert done == Ran("Pears.\n", "", 0)
    assert contents(server.requests[1], "tool") == ["12", "0"]
    assert [offered["function"]["name"] for offered in server.requests[0]["tools"]] == ["stock"]


@pytest.mark.parametrize(("word", "written"), [("y", True), ("n", False)])
async def test_permission_writes_only_what_the_person_wants(tmp_path: Path, word: str, written: bool) -> None:
    script = [call("create", {"path": "new.txt", "file_text": "hello"}), say("Written.")]
    async with ChatServer(script) as server:
        done = await example("permission.py", server, tmp_path, "Write new.txt.", stdin=f"{word}\n")
    assert f"Write {tmp_path / 'new.txt'}? [y/N] " in done.out
    assert (tmp_path / "new.txt").exists() == written
    assert len(server.requests) == (2 if written else 1)
    assert (done.err, done.status) == ("", 0)


async def test_stream_shows_the_reply_in_pieces_and_the_calls(tmp_path: Path) -> None:
    script = [call("glob", {"pattern": "*.py"}), say("There are no tests at all.")]
    async with ChatServer(script) as server:
        done = await example("stream.py", server, tmp_path, "How many tests are there?")
    assert done == Ran("[glob {'pattern': '*.py'}]\nThere are no tests at all.\n", "", 0)
    assert [request["stream"] for request in server.requests] == [True, True]


async def test_autopilot_goes_on_until_the_task_is_complete(tmp_path: Path) -> None:
    script = [
        say("I would begin with a plan."),
        call("create", {"path": "plan.txt", "file_text": "1. Begin.\n"}),
        call("task_complete", {"summary": "The plan is written."}),
    ]
    async with ChatServer(script) as server:
        done = await example("autopilot.py", server, tmp_path, "Write a plan.")
    assert done == Ran("Done: The plan is written.\n", "", 0)
    assert (tmp_path / "plan.txt").read_text("utf-8") == "1. Begin.\n"


async def test_resume_knows_what_was_said_before(tmp_path: Path) -> None:
    async with ChatServer([say("I will."), say("Heron.")]) as server:
        done = await example("resume.py", server, tmp_path)
    assert done == Ran("True: My favourite word is heron. Remember it.\nHeron.\n", "", 0)
    said = contents(server.requests[1], "user")
    assert [text.rpartition("\n\n")[2] for text in said] == [
        "My favourite word is heron. Remember it.",
        "What is my favourite word?",
    ]


@pytest.mark.parametrize("name", ["ask", "autopilot", "permission", "stream"])
async def test_examples_say_what_they_want_when_they_are_given_nothing(tmp_path: Path, name: str) -> None:
    async with ChatServer([]) as server:
        done = await example(f"{name}.py", server, tmp_path)
    assert (done.out, done.status) == ("", 1)
    assert done.err.startswith(f"usage: python examples/{name}.py ")
    assert done.err.count("\n") == 1


async def test_every_example_is_run_here() -> None:
    tested = {name.split("_")[1] for name in globals() if name.startswith("test_")}
    assert {file.stem.split("_")[0] for file in EXAMPLES.glob("*.py")} <= tested
