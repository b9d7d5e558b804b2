"""What the documentation shows works: its Python and shell snippets, its configuration, its links."""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.docs.model import ROOT, environment, ran
from turnwright import config
from turnwright.protocol.wire import Json
from turnwright.testing.chat_answers import Say, call, say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
COMMANDS = {"python": [sys.executable, "-c"], "sh": ["bash", "-euc"]}


class Snippet(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def snippets() -> list[Snippet]:
    """Every fenced block; those in `console` show what needs a network or a person, and don't run here."""
    found: list[Snippet] = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for fence in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            found.append(Snippet(page, text.count("\n", 0, fence.start()) + 1, fence[1], fence[2]))
    return found


RUNNABLE = [snippet for snippet in snippets() if snippet.language in COMMANDS]
SETTINGS = [snippet for snippet in snippets() if snippet.language == "toml"]


def model(request: dict[str, Json]) -> Say:
    """A model that does the least that its prompt asks for."""
    offered = {tool["function"]["name"] for tool in request["tools"]}
    last = request["messages"][-1]
    if last["role"] == "tool":
        return say(f"It says: {last['content']}")
    if "task_complete" in offered:
        return call("task_complete", {"summary": "All is done."})
    if "line_count" in offered:
        return call("line_count", {"name": "data.csv"})
    if "<answer_format>" in last["content"]:
        return say('{"file": "data.csv", "lines": 42}')
    if "Write" in last["content"]:
        return call("create", {"path": "count.txt", "file_text": "42\n"})
    return call("grep", {"pattern": "", "path": "data.csv", "output_mode": "count"})


@pytest.mark.parametrize("snippet", RUNNABLE, ids=str)
async def test_a_snippet_runs(snippet: Snippet, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("1\n" * 42, "utf-8")
    async with ChatServer(model) as server:
        done = await ran([*COMMANDS[snippet.language], snippet.text], tmp_path, environment(server))
    assert done.status == 0, done.err
    assert server.violations == []


async def test_the_shell_snippet_of_the_readme_does_what_its_comments_say(tmp_path: Path) -> None:
    snippet = next(s for s in RUNNABLE if s.page.name == "README.md" and s.language == "sh")
    async with ChatServer(model) as server:
        done = await ran([*COMMANDS["sh"], snippet.text], tmp_path, environment(server))
    lines = done.out.splitlines()
    assert lines[0] == "It says: data.csv:42"
    assert '"turns":2' in lines[1]
    assert (tmp_path / "stream.jsonl").read_text("utf-8").count('"assistant.turn_start"') == 2
    assert (tmp_path / "count.txt").read_text("utf-8") == "42\n"
    assert "All is done." in done.out
    assert lines[-1] == "2"  # one of the autopilot run, one of the run that went on with its session


async def test_the_python_snippet_of_the_readme_prints_its_turns_and_the_answer(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("1\n" * 42, "utf-8")
    snippet = next(s for s in RUNNABLE if s.page.name == "README.md" and s.language == "python")
    async with ChatServer(model) as server:
        done = await ran([*COMMANDS["python"], snippet.text], tmp_path, environment(server))
    assert done == ("turn 0\nturn 1\nIt says: 42\n", "", 0)


@pytest.mark.parametrize("snippet", SETTINGS, ids=str)
def test_a_configuration_file_is_one_that_is_read(snippet: Snippet, tmp_path: Path) -> None:
    file = config.user_file(tmp_path)
    file.parent.mkdir()
    file.write_text(snippet.text, "utf-8")
    assert config.load(tmp_path, environment={}).warnings == ()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_links_to_what_is_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_the_tests_that_hold_the_invariants_are_there() -> None:
    named = re.findall(r"`(tests/\S+\.py)::(\w+)`", (ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    missing = [(file, test) for file, test in named if f"def {test}(" not in (ROOT / file).read_text("utf-8")]
    assert (len(named) > 10, missing) == (True, [])
