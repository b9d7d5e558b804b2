"""Commands whose runtime was killed are ended by whoever takes their session up."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from tests.engine.harness import Recorder, options, running
from turnwright.protocol import wire
from turnwright.providers.scripted import Scripted
from turnwright.store.jsonl import JsonlStore
from turnwright.tools.left_over import end_left_over, noted
from turnwright.tools.process_tree import identity_of

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is noted"),
]

RUNTIME = """
import os, sys
from functools import partial
from pathlib import Path
import anyio
from turnwright.tools import process

async def main():
    await process.run(
        ["bash", "-c", "setsid sleep 61 & echo $!; sleep 62"], cwd=Path.cwd(), env=dict(os.environ),
        output=partial(os.write, 1), notes=Path(sys.argv[1]),
    )

anyio.run(main)
"""


@pytest.fixture
def sleeper() -> Iterator[int]:
    """A process with a group of its own that runs for a minute; its pid."""
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        yield process.pid
        process.kill()


def start_and_kill(notes: Path) -> tuple[int, int]:
    """Kill a process while it runs a command; the command's pid, and that of what it has started."""
    command = [sys.executable, "-c", RUNTIME, str(notes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as runtime:
        assert runtime.stdout
        child = int(runtime.stdout.readline())
        (note,) = notes.iterdir()
        runtime.send_signal(signal.SIGKILL)
    return int(note.stem), child


async def gone(*pids: int) -> None:
    """Wait until the processes have ended, five seconds at most."""
    with anyio.fail_after(5):
        while any(map(identity_of, pids)):  # noqa: ASYNC110 - the system tells only a parent
            await anyio.sleep(0.01)


async def test_what_a_killed_runtime_left_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    notes = tmp_path / "processes"
    leader, child = start_and_kill(notes)
    assert identity_of(leader)
    assert identity_of(child)
    end_left_over(notes)
    await gone(leader, child)
    assert list(notes.iterdir()) == []


async def test_a_resume_ends_what_its_session_left(tmp_path: Path, sleeper: int) -> None:
    store = JsonlStore(tmp_path / "session-state")
    given = options(tmp_path, session_id="it")
    async with running(Scripted([]), tmp_path, store) as runtime:
        session = await runtime.create(given, Recorder())
        notes = session.processes
        with noted(notes, sleeper):
            (note,) = notes.iterdir()
            content = note.read_bytes()
        await runtime.unload("it")
        note.write_bytes(content)
        await runtime.resume("it", given, Recorder())
        await gone(sleeper)


@pytest.mark.parametrize("field", ["started", "boot"])
def test_another_process_of_the_same_number_is_let_be(tmp_path: Path, sleeper: int, field: str) -> None:
    with noted(tmp_path, sleeper):
        (note,) = tmp_path.iterdir()
        note.write_bytes(wire.encode({**wire.loads(note.read_bytes()), field: "1"}))
        end_left_over(tmp_path)
    assert identity_of(sleeper)
    assert list(tmp_path.iterdir()) == []


def test_a_note_that_says_nothing_is_removed(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text("{")
    end_left_over(tmp_path)
    end_left_over(tmp_path / "none")
    assert list(tmp_path.iterdir()) == []


def test_a_command_goes_on_where_no_note_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with noted(tmp_path / "file", os.getpid()), noted(None, os.getpid()):
        assert (tmp_path / "file").read_text() == "in the way"
