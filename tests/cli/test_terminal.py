"""`turnwright -p` on a terminal: progress, questions and Ctrl-C."""

import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.cli.command import SECONDS, on_terminal, variables
from turnwright.testing.chat_answers import Say, call, say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio

WRITE = call("create", {"path": "new.txt", "file_text": "content\n"})
QUESTION = "or say what to do instead: "


def touch(name: str) -> tuple[str, dict[str, str]]:
    return "bash", {"command": f"touch {name}", "description": "Touch"}


async def test_progress_names_turns_and_calls_on_stderr_while_the_answer_stays_on_stdout(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    async with (
        ChatServer([call("view", {"path": "a.txt"}), say("It says one.")]) as server,
        on_terminal("-p", "read", cwd=tmp_path, server=server) as screen,
    ):
        done = await screen.finish()
    lines = done.err.splitlines()
    assert (done.status, done.out) == (0, "It says one.\n")
    assert [lines[0], lines[1].partition(" (")[0], lines[2]] == ["turn 1", "  ✓ view a.txt", "turn 2"]
    assert lines[3].startswith("2 turns, 22 tokens in, 14 out, ")


async def test_yes_lets_a_write_happen_after_the_change_was_shown(tmp_path: Path) -> None:
    async with (
        ChatServer([WRITE, say("written")]) as server,
        on_terminal("-p", "write", cwd=tmp_path, server=server) as screen,
    ):
        await screen.until(QUESTION)
        assert "+content" in screen.shown
        screen.type("y\n")
        done = await screen.finish()
    assert (done.status, done.out) == (0, "written\n")
    assert (tmp_path / "new.txt").read_text() == "content\n"


async def test_no_ends_the_run_and_nothing_is_written(tmp_path: Path) -> None:
    async with (
        ChatServer([WRITE, say("never asked for")]) as server,
        on_terminal("-p", "write", cwd=tmp_path, server=server) as screen,
    ):
        await screen.until(QUESTION)
        screen.type("n\n")
        done = await screen.finish()
    assert (done.status, done.out, len(server.requests)) == (0, "", 1)
    assert not (tmp_path / "new.txt").exists()


async def test_no_to_a_run_with_a_schema_is_told_as_an_answer_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "any.json").write_text("{}")
    async with (
        ChatServer(
            [Say("I will write.", calls=[("create", {"path": "new.txt", "file_text": "x"})])]
        ) as server,
        on_terminal("-p", "write", "--schema", "any.json", cwd=tmp_path, server=server) as screen,
    ):
        await screen.until(QUESTION)
        screen.type("n\n")
        done = await screen.finish()
    assert (done.status, done.out) == (1, "")
    assert "turnwright: The run ended without an answer in JSON.\n" in done.err


async def test_always_is_not_asked_again_for_the_same_command(tmp_path: Path) -> None:
    script = [Say(calls=[touch("one")]), Say(calls=[touch("one")]), say("done")]
    async with (
        ChatServer(script) as server,
        on_terminal("-p", "touch", cwd=tmp_path, server=server) as screen,
    ):
        await screen.until(QUESTION)
        screen.type("a\n")
        done = await screen.finish()
    assert (done.status, done.out, done.err.count(QUESTION)) == (0, "done\n", 1)


async def test_calls_side_by_side_are_asked_for_one_after_the_other(tmp_path: Path) -> None:
    async with (
        ChatServer([Say(calls=[touch("one"), touch("two")]), say("done")]) as server,
        on_terminal("-p", "touch", cwd=tmp_path, server=server) as screen,
    ):
        for _ in range(2):
            await screen.until(QUESTION)
            screen.type("y\n")
        done = await screen.finish()
    assert (done.status, done.err.count("Run this command?")) == (0, 2)
    assert {path.name for path in tmp_path.iterdir()} >= {"one", "two"}


async def test_the_keyboard_answers_also_when_stdin_is_no_terminal(tmp_path: Path) -> None:
    async with (
        ChatServer([WRITE, say("written")]) as server,
        on_terminal("-p", "w", cwd=tmp_path, server=server, stdin_is_terminal=False) as screen,
    ):
        await screen.until(QUESTION)
        screen.type("y\n")
        done = await screen.finish()
    assert (done.status, done.out) == (0, "written\n")


async def test_what_a_model_writes_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    command = {"command": "rm x #\x1b[2K\rRun this command? ls", "description": "List"}
    async with (
        ChatServer([call("bash", command), say("done")]) as server,
        on_terminal("-p", "go", cwd=tmp_path, server=server) as screen,
    ):
        await screen.until(QUESTION)
        screen.type("n\n")
        done = await screen.finish()
    assert "rm x #\ufffd[2K\ufffdRun this command? ls" in done.err
    assert "\x1b" not in done.err


async def test_ctrl_c_stops_the_run_in_order_and_the_status_is_130(tmp_path: Path) -> None:
    async with (
        ChatServer([Say("late", gate=anyio.Event())]) as server,
        on_terminal("-p", "wait", "--output-format", "json", cwd=tmp_path, server=server) as screen,
    ):
        await server.wait_for_requests(1)
        screen.type("\x03")
        done = await screen.finish()
    found = json.loads(done.out)
    logs = list(tmp_path.glob("copilot-home/session-state/*/events.jsonl"))
    types = [json.loads(line)["type"] for line in logs[0].read_bytes().splitlines()]
    assert (done.status, found["error"]["type"], found["turns"]) == (130, "aborted", 1)
    assert "Stopping the run" in done.err
    assert types[types.index("abort") :][:2] == ["abort", "assistant.turn_end"]


async def test_ctrl_c_at_a_question_stops_the_run(tmp_path: Path) -> None:
    async with (
        ChatServer([WRITE, say("never asked for")]) as server,
        on_terminal("-p", "write", cwd=tmp_path, server=server) as screen,
    ):
        await screen.until(QUESTION)
        screen.type("\x03")
        done = await screen.finish()
    assert (done.status, len(server.requests)) == (130, 1)


async def test_a_terminal_that_hangs_up_stops_the_run_in_order(tmp_path: Path) -> None:
    hang_up = {"command": "kill -HUP $PPID; sleep 60", "description": "Close the window"}
    async with (
        ChatServer([call("bash", hang_up)]) as server,
        on_terminal("-p", "go", "--allow-all", cwd=tmp_path, server=server) as screen,
    ):
        done = await screen.finish()
    logs = list(tmp_path.glob("copilot-home/session-state/*/events.jsonl"))
    types = [json.loads(line)["type"] for line in logs[0].read_bytes().splitlines()]
    assert done.status == 129
    assert types[types.index("abort") :][:3] == ["abort", "tool.execution_complete", "assistant.turn_end"]


def test_a_second_signal_kills_at_once(tmp_path: Path) -> None:
    program = (
        "import anyio\n"
        "from turnwright.cli.interrupt import interrupted\n"
        "async def main():\n"
        "    async with anyio.create_task_group() as group:\n"
        "        group.start_soon(ready)\n"
        "        print(await interrupted(), flush=True)\n"
        "    await anyio.sleep_forever()\n"
        "async def ready():\n"
        "    print('ready', flush=True)\n"
        "anyio.run(main)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=variables()
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(2)
        assert process.stdout.readline() == "2\n"
        process.send_signal(2)
        assert process.wait(SECONDS) == -2
