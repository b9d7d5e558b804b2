"""`turnwright record`, `turnwright replay` and the fixture, as their users have them."""

import json
import re
import sys
from pathlib import Path

import anyio
import pytest

from tests.cli.command import SECONDS, Finished, turnwright, variables
from turnwright.testing.chat_answers import Say, call, say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[2] / "docs" / "record-replay.md"
SEARCH = {"pattern": "", "path": "data.csv", "output_mode": "count"}


def replies() -> list[Say]:
    return [call("grep", SEARCH), say("It has 3.")]


async def test_a_run_is_recorded_replayed_without_a_model_and_gone_on_with_by_another(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("1\n2\n3\n")
    async with ChatServer(replies(), api_key="a-secret-key") as server:
        key = {"TURNWRIGHT_API_KEY": "a-secret-key"}
        run = await turnwright(
            "-p", "How many? My key is a-secret-key.", "--record", "run.json",
            cwd=tmp_path, server=server, environment=key,
        )  # fmt: skip
        assert (run.status, run.out) == (0, "It has 3.\n")
    recording = (tmp_path / "run.json").read_text("utf-8")
    assert "a-secret-key" not in recording
    assert str(tmp_path) not in recording
    (tmp_path / "data.csv").write_text("1\n2\n")
    same = await turnwright("replay", "run.json", cwd=tmp_path)
    other = await turnwright("replay", "run.json", "--tools", "run", cwd=tmp_path)
    assert same == (0, "2 requests, all as recorded\n", "")
    assert (other.status, other.err) == (1, "As recorded: 1 of 2 requests.\n")
    assert other.out.splitlines()[-2:] == ["-data.csv:3", "+data.csv:2"]
    async with ChatServer([say("Three lines.")]) as server:
        fork = await turnwright(
            "replay", "run.json", "--from", "2", "--model", "other", cwd=tmp_path, server=server
        )
        assert (fork.status, fork.out) == (0, "Three lines.\n")
        session = fork.err.split()[-1]
        recorded = await turnwright("record", session, cwd=tmp_path, server=server)
    exchanges = json.loads(recorded.out)["exchanges"]
    assert [exchange["reply"].get("text") for exchange in exchanges] == [None, "Three lines."]
    assert server.violations == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("replay", "none.json"), "can't read none.json: No such file or directory"),
        (("replay", "bad.json"), "bad.json is no recording: "),
        (("replay", "good.json", "--from", "2"), "--from: must be 1 to 1, the requests in good.json"),
        (("record", "deadbeef"), "There is no session deadbeef"),
    ],
)
async def test_what_cant_be_recorded_or_replayed_is_said(
    tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    (tmp_path / "bad.json").write_text("[]")
    exchange = {"messages": [{"user": "hi"}], "reply": {"text": "hello"}}
    (tmp_path / "good.json").write_text(json.dumps({"turnwright": 1, "model": "m", "exchanges": [exchange]}))
    done = await turnwright(*arguments, cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert told in done.err


async def pytest_run(folder: Path, server: ChatServer | None, *options: str) -> Finished:
    """Run pytest in a folder of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    with anyio.fail_after(SECONDS):
        done = await anyio.run_process(
            command, cwd=folder, env=variables(server, {"PYTHONDONTWRITEBYTECODE": "1"}), check=False
        )
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())


async def test_the_fixture_of_the_docs_records_once_and_replays_until_something_differs(
    tmp_path: Path,
) -> None:
    conftest, test = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (tmp_path / "conftest.py").write_text(conftest)
    (tmp_path / "test_app.py").write_text(test)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    file = tmp_path / "recordings" / "test_app.test_the_model_asks_our_tool[asyncio].json"
    async with ChatServer([call("line_count", {"name": "data.csv"}), say("There are 42.")]) as server:
        first = await pytest_run(tmp_path, server, "-k", "asyncio")
        assert first.status == 0, first.out
        assert len(server.requests) == 2
    assert len(json.loads(file.read_text("utf-8"))["exchanges"]) == 2
    second = await pytest_run(tmp_path, None, "-k", "asyncio")
    assert second.status == 0, second.out
    (tmp_path / "test_app.py").write_text(test.replace("return 42", "return 43"))
    third = await pytest_run(tmp_path, None, "-k", "asyncio")
    assert third.status == 1
    assert all(
        line in third.out for line in ("request 2, new message 1", "\n-42\n", "\n+43\n", "--record-anew")
    )
    assert [*file.parent.iterdir()] == [file]
