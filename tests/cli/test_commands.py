"""The other commands: help, usage, sessions, models, doctor, serve."""

import errno
import json
import os
import re
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.cli.command import COMMAND, SECONDS, Finished, turnwright, variables
from turnwright import __version__
from turnwright.rpc.framing import Decoder, encode
from turnwright.testing.chat_answers import call, say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio

KEY = "sk-never-show-this"


async def test_alone_it_says_in_short_what_it_can_do(tmp_path: Path) -> None:
    done = await turnwright(cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert "turnwright -p '" in done.out
    assert "turnwright --help" in done.out


async def test_reading_the_command_line_loads_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys; from turnwright.cli import arguments, main; arguments.parser(); print(*sys.modules)"
    )
    with anyio.fail_after(SECONDS):
        done = await anyio.run_process([sys.executable, "-c", program], cwd=tmp_path, env=variables())
    loaded = {name.partition(".")[0] for name in done.stdout.decode().split()}
    assert loaded & {"anyio", "asyncio", "aiohttp", "msgspec", "tree_sitter", "xllamacpp"} == set()


async def test_help_has_examples_and_version_the_version(tmp_path: Path) -> None:
    helped = await turnwright("--help", cwd=tmp_path)
    version = await turnwright("--version", cwd=tmp_path)
    assert (helped.status, "examples:" in helped.out, "--allow-tool" in helped.out) == (0, True, True)
    assert version == (0, f"turnwright {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--frobnicate"], "--frobnicate"),
        (["--model", "m"], "give a prompt with -p"),
        (["-p", "hi", "doctor"], "-p and the command doctor don't go together"),
        (["-p", "hi", "--allow-tool", "shell("], "Permission rule 'shell('"),
        (["-p", "hi", "-C", "nowhere"], "-C: nowhere is not a folder"),
        (["-p", " "], "the prompt is empty"),
        (["-p", "hi", "--resume", "x", "--continue"], "not allowed with argument"),
        (["sessions"], "ACTION"),
    ],
)
async def test_wrong_usage_is_status_2_and_names_what_is_wrong(
    tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    done = await turnwright(*arguments, cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert complaint in done.err


async def test_an_unknown_flag_of_an_official_client_is_status_1_and_named(tmp_path: Path) -> None:
    done = await turnwright("--headless", "--no-auto-update", "--frobnicate", "--stdio", cwd=tmp_path)
    assert (done.status, "--frobnicate" in done.err) == (1, True)


async def ran_session(folder: Path) -> str:
    script = [call("view", {"path": "a.txt"}), say("It says one.")]
    (folder / "a.txt").write_text("one\n")
    async with ChatServer(script) as server:
        done = await turnwright(
            "-p", "What is in a.txt?", "--output-format", "json", cwd=folder, server=server
        )
    return json.loads(done.out)["sessionId"]


async def test_sessions_are_listed_shown_and_deleted(tmp_path: Path) -> None:
    session_id = await ran_session(tmp_path)
    listed = await turnwright("sessions", "list", cwd=tmp_path)
    as_json = await turnwright("sessions", "list", "--json", cwd=tmp_path)
    shown = await turnwright("sessions", "show", session_id[:6], cwd=tmp_path)
    deleted = await turnwright("sessions", "delete", session_id, cwd=tmp_path)
    after = await turnwright("sessions", "list", cwd=tmp_path)
    assert session_id in listed.out
    assert "What is in a.txt?" in listed.out
    assert json.loads(as_json.out)["sessionId"] == session_id
    lines = [line for line in shown.out.splitlines() if line and not line.startswith(("session", "──"))]
    assert lines == [
        "model: test-model",
        "user: What is in a.txt?",
        "→ view a.txt",
        "  ← 1. one",
        "    2.",
        "assistant: It says one.",
    ]
    assert [line.partition(" ·")[0] for line in shown.out.splitlines() if line.startswith("──")] == [
        "── turn 1",
        "── turn 2",
    ]
    assert (deleted.status, after.out) == (0, "")


async def test_showing_a_session_leaves_its_log_as_it_is(tmp_path: Path) -> None:
    session_id = await ran_session(tmp_path)
    log = tmp_path / "copilot-home" / "session-state" / session_id / "events.jsonl"
    with log.open("ab") as file:
        file.write(b'{"type":"half of a li')
    before = log.read_bytes()
    shown = await turnwright("sessions", "show", "--json", session_id, cwd=tmp_path)
    assert (shown.status, log.read_bytes()) == (0, before)
    assert shown.out.encode() == b"".join(before.splitlines(keepends=True)[:-1])


@pytest.mark.parametrize(
    ("session_id", "reason"),
    [
        ("nothing", "There is no session nothing"),
        ("../../etc", "There is no session ../../etc"),
        ("", "The session's id is empty"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ("sessions", "show"),
        ("sessions", "delete"),
        ("sessions", "repair"),
        ("record",),
        ("-p", "Go.", "--resume"),
    ],
    ids=" ".join,
)
async def test_a_session_that_does_not_exist_is_status_1_and_one_line(
    tmp_path: Path, command: tuple[str, ...], session_id: str, reason: str
) -> None:
    await ran_session(tmp_path)
    done = await turnwright(*command, session_id, cwd=tmp_path)
    assert done == (1, "", f"turnwright: {reason}: `turnwright sessions list` names all\n")


async def test_only_a_whole_id_deletes_a_session(tmp_path: Path) -> None:
    session_id = await ran_session(tmp_path)
    start = session_id[:8]
    done = await turnwright("sessions", "delete", start, cwd=tmp_path)
    needed = (
        f"There is no session {start}, and the whole id is needed here; 1 session starts so: {session_id}"
    )
    assert done == (1, "", f"turnwright: {needed}\n")
    assert session_id in (await turnwright("sessions", "list", cwd=tmp_path)).out


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("show", "{count} sessions start with a:"),
        ("delete", "There is no session a, and the whole id is needed here; {count} sessions start so:"),
    ],
)
@pytest.mark.parametrize(
    ("count", "named"),
    [(2, "a0, a1"), (5, "a0, a1, a2 and 2 more; `turnwright sessions list` names all")],
)
async def test_where_several_sessions_start_so_a_few_are_named(
    tmp_path: Path, command: str, complaint: str, count: int, named: str
) -> None:
    for number in range(count):
        log = tmp_path / "copilot-home" / "session-state" / f"a{number}" / "events.jsonl"
        log.parent.mkdir(parents=True)
        log.touch()
    done = await turnwright("sessions", command, "a", cwd=tmp_path)
    assert done == (1, "", f"turnwright: {complaint.format(count=count)} {named}\n")


async def test_models_are_those_of_the_endpoint_and_the_local_one(tmp_path: Path) -> None:
    models: list[Any] = [{"id": "big", "context_length": 32000}, {"id": "small"}]
    file = tmp_path / "copilot-home" / "turnwright" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[models.big]\nmax_output_tokens = 4096\ninput_price = 0.075\noutput_price = 12\n")
    async with ChatServer(models=models) as server:
        done = await turnwright("models", "list", cwd=tmp_path, server=server)
        as_json = await turnwright("models", "list", "--json", cwd=tmp_path, server=server)
    *table, local = done.out.splitlines()
    assert table == [
        "MODEL  CONTEXT  MAX OUTPUT  $/M INPUT  $/M OUTPUT",
        "big     32,000       4,096      0.075       12.00",
        "small        -           -          -           -",
        "local        -           -          -           -",
    ]
    assert local.startswith("local is the Local demo model")
    big, small, ours = map(json.loads, as_json.out.splitlines())
    prices = {"input": 0.075, "output": 12.0}
    limits = {"contextWindow": 32000, "maxOutputTokens": 4096}
    assert big == {"id": "big", "name": "big", **limits, "vision": True, "prices": prices}
    assert small == {"id": "small", "name": "small", "vision": True}
    assert (ours["id"], ours["vision"], local.endswith(ours["state"])) == ("local", False, True)


async def test_pulling_a_model_that_is_there_says_where(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.touch()
    done = await turnwright("models", "pull", cwd=tmp_path, environment={"TURNWRIGHT_MODEL_FILE": str(file)})
    assert (done.status, done.out, str(file) in done.err) == (0, "", True)


async def doctor(tmp_path: Path, *arguments: str, **environment: str) -> Finished:
    return await turnwright("doctor", *arguments, cwd=tmp_path, environment=environment)


async def test_doctor_says_what_is_missing_and_what_to_do(tmp_path: Path) -> None:
    done = await doctor(tmp_path)
    assert done.status == 1
    assert "✗ endpoint" in done.out
    assert f"{tmp_path}/copilot-home/turnwright/config.toml" in done.out
    assert "TURNWRIGHT_BASE_URL" in done.out


async def test_doctor_tells_sources_but_never_a_key(tmp_path: Path) -> None:
    async with ChatServer(api_key=KEY) as server:
        done = await doctor(
            tmp_path,
            "--probe",
            TURNWRIGHT_BASE_URL=server.base_url.replace("//", f"//user:{KEY}@"),
            TURNWRIGHT_MODEL="test-model",
            TURNWRIGHT_API_KEY=KEY,
        )
    assert done.status == 0
    assert "test-model (TURNWRIGHT_MODEL)" in done.out
    assert "key from TURNWRIGHT_API_KEY" in done.out
    assert "✓ probe        the endpoint answers, with 1 model: test-model" in done.out
    assert KEY not in done.out + done.err


async def test_doctor_says_what_the_extra_fast_does_here(tmp_path: Path) -> None:
    without = tmp_path / "sitecustomize.py"
    without.write_text(
        "import importlib.util as util\n"
        "found = util.find_spec\n"
        "util.find_spec = lambda name: None if name in ('uvloop', 'caio') else found(name)\n"
    )
    with_it = await doctor(tmp_path)
    assert re.search(r"^✓ event loop   uvloop$", with_it.out, re.MULTILINE)
    assert re.search(
        r"^(✓ syncs        by the kernel|· syncs        by threads: io_uring)", with_it.out, re.MULTILINE
    )
    done = await doctor(tmp_path, PYTHONPATH=str(tmp_path))
    assert done.out.splitlines()[-4:] == [
        "· event loop   asyncio's own",
        "               for a quicker one: pip install 'turnwright[fast]'",
        "· syncs        by threads: caio.linux_uring is not installed",
        "               for quicker ones, on Linux: pip install 'turnwright[fast]'",
    ]


async def test_doctors_probe_names_an_endpoint_that_does_not_answer(tmp_path: Path) -> None:
    done = await doctor(tmp_path, "--probe", TURNWRIGHT_BASE_URL="http://127.0.0.1:9/v1")
    assert (done.status, "✗ probe" in done.out) == (1, True)


async def read_answer(process: Process) -> dict[str, Any]:
    """The next message on the process's stdout."""
    assert process.stdout is not None
    decoder = Decoder()
    async for piece in process.stdout:
        decoder.feed(piece)
        if (message := decoder.next_message()) is not None:
            return json.loads(message)
    raise AssertionError("the runtime hung up")


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve"],
        ["serve", "--log-level", "error"],
        ["--headless", "--no-auto-update", "--log-level", "info", "--stdio"],
        ["--headless", "--stdio", "--log-level", "error", "--auth-token-env", "V", "--no-auto-login"],
    ],
)
async def test_it_serves_one_client_on_stdio_until_that_hangs_up(
    tmp_path: Path, arguments: list[str]
) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"message": "hello"}}
    with anyio.fail_after(SECONDS):
        async with await anyio.open_process([*COMMAND, *arguments], cwd=tmp_path, env=variables()) as process:
            assert process.stdin is not None
            await process.stdin.send(encode([json.dumps(ping).encode()]))
            answer = await read_answer(process)
            await process.stdin.aclose()
            assert await process.wait() == 0
    assert "hello" in answer["result"]["message"]


@pytest.mark.parametrize("arguments", [["serve", "--port", "0"], ["--headless", "--port", "0"]])
async def test_on_a_port_it_says_which_and_serves_until_sigterm(tmp_path: Path, arguments: list[str]) -> None:
    with anyio.fail_after(SECONDS):
        async with await anyio.open_process([*COMMAND, *arguments], cwd=tmp_path, env=variables()) as process:
            assert process.stdout is not None
            said = (await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 100)).decode()
            port = int(said.rpartition(" ")[2])
            async with await anyio.connect_tcp("127.0.0.1", port):
                process.send_signal(signal.SIGTERM)
                assert await process.wait() == 0
    assert said == f"CLI server listening on port {port}"


@pytest.mark.parametrize("start", ["serve", "--headless"])
async def test_a_port_that_cant_be_had_is_named_without_a_traceback(tmp_path: Path, start: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = await turnwright(start, "--port", str(port), cwd=tmp_path)
    assert done == (
        1,
        "",
        f"turnwright: --port: can't listen on 127.0.0.1:{port}: {os.strerror(errno.EADDRINUSE)}\n",
    )
    done = await turnwright(start, "--port", "99999", cwd=tmp_path)
    assert "--port: a port from 0 to 65535 was expected, not '99999'" in done.err


async def test_a_reader_that_leaves_ends_the_listing_without_a_traceback(tmp_path: Path) -> None:
    await ran_session(tmp_path)
    read, write = os.pipe()
    os.close(read)
    try:
        with anyio.fail_after(SECONDS):
            done = await anyio.run_process(
                [sys.executable, "-m", "turnwright", "sessions", "list"],
                cwd=tmp_path,
                env=variables(),
                stdout=write,
                check=False,
            )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


async def test_a_log_that_cannot_be_read_is_told_in_a_line_and_the_others_are_audited(tmp_path: Path) -> None:
    unreadable = await ran_session(tmp_path)
    sound = await ran_session(tmp_path)
    log = tmp_path / "copilot-home" / "session-state" / unreadable / "events.jsonl"
    log.unlink()
    log.mkdir()
    reason = "it is no regular file"
    audited = await turnwright("audit", cwd=tmp_path)
    assert (audited.status, audited.err) == (1, f"turnwright: can't read {log}: {reason}\n")
    assert f"{sound}/events.jsonl: " in audited.out
    for command in (("sessions", "show"), ("-p", "Go.", "--resume")):
        done = await turnwright(*command, unreadable, cwd=tmp_path)
        assert done == (1, "", f"turnwright: can't read the log of session {unreadable}: {reason}\n")
