"""The tool `bash`, on real shells."""

import asyncio
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec
import pytest

from turnwright.errors import InvalidParams
from turnwright.protocol.permissions import PossibleUrl, Shell, ShellCommand, ShellSegment
from turnwright.tools.base import Call, ToolResult
from turnwright.tools.shell import Bash, with_utf8

pytestmark = pytest.mark.anyio

MakeCall = Callable[..., Call]


def done(text: str) -> ToolResult:
    return ToolResult(text, detail=text)


async def run(call: Call, within: float = 20) -> ToolResult:
    with anyio.fail_after(within):
        return await Bash().run(call)


def processes_with(word: str) -> list[int]:
    """The live processes whose command line holds `word`."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            alive = (folder / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
            if alive and word in (folder / "cmdline").read_text():
                found.append(int(folder.name))
    return found


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def until_running(word: str, count: int) -> None:
    with anyio.fail_after(10):
        while len(processes_with(word)) < count:  # noqa: ASYNC110 - the system tells only a parent
            await anyio.sleep(0.01)


@pytest.fixture
def stray() -> Iterator[str]:
    """A number of seconds to sleep that no other process has; what still sleeps is ended."""
    word = f"60.{os.getpid()}{time.monotonic_ns() % 10**9}"
    yield word
    for pid in processes_with(f"sleep {word}".replace(" ", "\0")):
        with suppress(ProcessLookupError):
            os.kill(pid, 9)


async def test_output_is_followed_by_the_exit_code(make_call: MakeCall) -> None:
    assert await run(make_call(command="echo hello && echo world")) == done(
        "hello\nworld\n<exited with exit code 0>"
    )


async def test_a_command_without_output_gives_its_exit_code_alone(make_call: MakeCall) -> None:
    assert await run(make_call(command="exit 3")) == done("<exited with exit code 3>")


async def test_the_exit_code_stands_on_a_line_of_its_own(make_call: MakeCall) -> None:
    assert await run(make_call(command="printf abc; kill -9 $$")) == done("abc\n<exited with exit code 137>")


async def test_errors_and_output_come_in_their_order(make_call: MakeCall) -> None:
    command = "echo 1; echo 2 >&2; echo 3; echo 4 >&2"
    assert await run(make_call(command=command)) == done("1\n2\n3\n4\n<exited with exit code 0>")


async def test_output_is_shown_while_the_command_runs(make_call: MakeCall, cwd: Path) -> None:
    shown: list[str] = []
    seen = anyio.Event()

    def show(text: str) -> None:
        shown.append(text)
        seen.set()

    call = make_call(command="echo begun; until [ -e go ]; do sleep 0.01; done; echo ended")
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(Bash().run, msgspec.structs.replace(call, progress=show))
            await seen.wait()
            (cwd / "go").touch()
    assert shown == ["begun\n", "begun\nended\n"]


async def test_each_call_is_a_new_shell_in_the_working_directory(make_call: MakeCall, cwd: Path) -> None:
    await run(make_call(command="cd /; export X=1"))
    assert await run(make_call(command="pwd; echo [$X]")) == done(f"{cwd}\n[]\n<exited with exit code 0>")


async def test_fields_that_are_not_ours_are_ignored(make_call: MakeCall) -> None:
    call = make_call(command="echo hi", mode="sync", initial_wait=5, shellId="0")
    assert await run(call) == done("hi\n<exited with exit code 0>")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "command"),
        ({"command": 1}, "command"),
        ({"command": "a\0b"}, "command"),
        ({"command": "a", "timeout": -1}, "timeout"),
        ({"command": "a\ud83d"}, "command"),
    ],
)
async def test_wrong_arguments_are_named(
    make_call: MakeCall, arguments: dict[str, object], field: str
) -> None:
    with pytest.raises(InvalidParams, match=field):
        await run(make_call(**arguments))


async def test_a_missing_working_directory_is_a_failure(make_call: MakeCall, cwd: Path) -> None:
    cwd.rmdir()
    message = "The command could not be started: No such file or directory"
    assert await run(make_call(command="true")) == ToolResult(message, kind="failure", error=message)


@pytest.mark.parametrize("newline", ["\\n", "\\r\\n", "\\r"])
async def test_every_kind_of_newline_arrives_as_it_is(make_call: MakeCall, newline: str) -> None:
    """B50."""
    result = await run(make_call(command=f"printf 'a{newline}b'"))
    actual = newline.encode().decode("unicode_escape")
    assert result == done(f"a{actual}b\n<exited with exit code 0>")


async def test_other_scripts_survive_a_c_locale(make_call: MakeCall, cwd: Path) -> None:
    """B54."""
    call = make_call(
        command="printf 你好 | od -An -tx1; mkdir 中文 && cd 中文 && echo é > ü && ls; locale charmap"
    )
    call = msgspec.structs.replace(call, env={**call.env, "LC_ALL": "C"})
    assert await run(call) == done(" e4 bd a0 e5 a5 bd\nü\nUTF-8\n<exited with exit code 0>")
    assert (cwd / "中文" / "ü").read_text(encoding="utf-8") == "é\n"


@pytest.mark.parametrize(
    ("env", "changed"),
    [
        ({}, True),
        ({"LC_ALL": "C"}, True),
        ({"LC_ALL": "", "LANG": "POSIX"}, True),
        ({"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, True),
        ({"LANG": "de_DE.UTF-8"}, False),
        ({"LC_ALL": "C.utf8"}, False),
    ],
)
async def test_only_a_locale_without_utf8_is_replaced(env: dict[str, str], changed: bool) -> None:
    """B54."""
    assert (with_utf8(env) != env) == changed


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("read x; echo got", "got\n<exited with exit code 0>"),
        ("python3", "<exited with exit code 0>"),
        ("2>/dev/null cat </dev/tty; echo $?", "1\n<exited with exit code 0>"),
    ],
)
async def test_a_command_that_waits_for_input_ends_at_once(
    make_call: MakeCall, command: str, output: str
) -> None:
    """B55."""
    assert await run(make_call(command=command), within=2) == done(output)


async def test_a_timeout_gives_what_there_is_and_ends_the_command(make_call: MakeCall, stray: str) -> None:
    """B55."""
    result = await run(make_call(command=f"echo begun; sleep {stray}", timeout=0.5), within=3)
    text = "begun\n<timed out after 0.5 seconds and was stopped>"
    message = "The command timed out after 0.5 seconds and was stopped."
    assert result == ToolResult(text, kind="timeout", detail=text, error=message)
    assert processes_with(stray) == []


@pytest.mark.parametrize("redirect", ["", " >/dev/null 2>&1", " 2>/dev/null"])
async def test_a_background_child_that_holds_the_pipe_is_not_waited_for(
    make_call: MakeCall, stray: str, redirect: str
) -> None:
    """B56."""
    result = await run(make_call(command=f"sleep {stray}{redirect} & echo hi"), within=1)
    assert result == done("hi\n<exited with exit code 0>")


async def test_a_background_child_that_never_stops_writing_is_not_waited_for(make_call: MakeCall) -> None:
    """B56."""
    result = await run(make_call(command="yes & echo hi"), within=5)
    assert result.text.endswith("<exited with exit code 0>")


@pytest.mark.parametrize(
    "command",
    [
        "sleep {s}",
        "sleep {s} & sleep {s} & wait",
        "trap '' TERM; sleep {s}; sleep {s}",
        "setsid sleep {s} & setsid sh -c 'trap \"\" TERM; sleep {s}; true' & wait",
        "(setsid sh -c 'sleep {s} & wait' &) ; sleep {s}",
        "sh -c 'sh -c \"sleep {s}; true\"; true'",
    ],
)
async def test_cancellation_ends_the_whole_tree_within_a_second(
    make_call: MakeCall, stray: str, command: str
) -> None:
    """B60."""
    ended = anyio.Event()

    async def execute() -> None:
        try:
            await Bash().run(make_call(command=command.format(s=stray)))
        finally:
            ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(execute)
        await until_running(stray, 1)
        group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True), anyio.fail_after(1):
            await ended.wait()
    if not command.startswith("(setsid"):  # it left the tree before
        assert processes_with(f"sleep\0{stray}") == []


async def test_a_running_command_has_no_task_beside_its_call_that_an_abort_would_wait_for(
    make_call: MakeCall, stray: str
) -> None:
    """B56."""
    before = len(asyncio.all_tasks())
    async with anyio.create_task_group() as group:
        group.start_soon(Bash().run, make_call(command=f"echo begun; sleep {stray}"))
        await until_running(stray, 1)
        assert len(asyncio.all_tasks()) == before + 1
        group.cancel_scope.cancel()


async def test_twenty_commands_leave_no_process_and_no_file_open(make_call: MakeCall) -> None:
    """B60."""
    await run(make_call(command="true"))
    before = open_files()
    for number in range(20):
        with anyio.move_on_after(0.02 if number % 2 else 20):
            await run(make_call(command="sh -c 'echo hi; sleep 0.05'"))
    assert open_files() == before
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    assert children == ""


async def test_output_of_24_megabytes_is_cut_and_kept_in_a_file(make_call: MakeCall) -> None:
    """B45."""
    command = "head -c 24000000 /dev/zero | tr '\\0' x"
    result = await run(make_call(command=command))
    found = re.fullmatch(
        r"(x+)\n\[\.\.\. the middle of 24000000 bytes is left out; all of it is in (\S+) \.\.\.\]\n(x+)\n"
        r"<exited with exit code 0>",
        result.text,
    )
    assert found
    assert len(result.text.encode()) < 21 * 1024
    assert Path(found[2]).read_bytes() == b"x" * 24_000_000


async def test_progress_of_large_output_stays_small(make_call: MakeCall, progress: list[str]) -> None:
    """B45."""
    await run(make_call(command="yes", timeout=0.5))
    assert progress
    assert max(map(len, progress)) < 21 * 1024


@pytest.mark.parametrize("lead", range(4))
async def test_characters_are_never_split(make_call: MakeCall, lead: int) -> None:
    """B47."""
    result = await run(make_call(command=f"printf '%s' {'a' * lead}; printf '🔑%.0s' {{1..9000}}"))
    result.text.encode()
    assert "\ufffd" not in result.text
    assert "🔑" in result.text


def test_the_whole_command_line_is_asked_for(make_call: MakeCall) -> None:
    command = "echo a && ls b.txt > c.txt; curl https://example.org/x"
    assert Bash().permission(make_call(command=command, description="List things")) == Shell(
        full_command_text=command,
        intention="List things",
        commands=[ShellCommand(identifier=command, read_only=False)],
        command_segments=[
            ShellSegment(identifier="echo", full_command_text="echo a"),
            ShellSegment(identifier="ls", full_command_text="ls b.txt"),
            ShellSegment(identifier="curl", full_command_text="curl https://example.org/x"),
        ],
        possible_paths=["b.txt", "c.txt"],
        possible_urls=[PossibleUrl(url="https://example.org/x")],
        has_write_file_redirection=True,
        can_offer_session_approval=True,
        tool_call_id="call_1",
    )


def test_a_command_without_a_description_describes_itself(make_call: MakeCall) -> None:
    assert Bash().permission(make_call(command="ls")).intention == "Run ls"
