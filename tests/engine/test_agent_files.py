"""Agents in files: what a file says of one, and which of those with the same name counts."""

from pathlib import Path

import pytest

from turnwright.engine.agents.agent import Agent
from turnwright.engine.agents.agent_files import Found, find, places_of
from turnwright.engine.agents.tool_names import expand

WRITER = """---
name: Tech writer
description: Writes pages
tools: [read, edit]
model: small
reasoning-effort: high
skills:
  - style
mcp-servers:
  wiki:
    command: wiki
user-invocable: false
---

Write short sentences.
"""


def written(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return str(path)


def found(cwd: Path, home: Path) -> Found:
    return find(places_of(cwd), home)


def test_a_file_says_all_of_an_agent(tmp_path: Path) -> None:
    path = written(tmp_path / ".github" / "agents" / "writer.agent.md", WRITER)
    assert found(tmp_path, tmp_path / "home") == Found(
        (
            Agent(
                name="writer",
                display_name="Tech writer",
                description="Writes pages",
                prompt="Write short sentences.",
                tools=("read", "edit"),
                model="small",
                reasoning_effort="high",
                skills=("style",),
                mcp_servers={"wiki": {"command": "wiki"}},
                source="project",
                user_invocable=False,
                path=path,
            ),
        ),
        (),
    )


def test_the_users_agent_goes_before_the_folders_and_that_before_its_roots(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    inner, home = tmp_path / "inner", tmp_path / "home"
    for place, names in {
        home / "agents": ("a",),
        inner / ".github/agents": ("a", "b"),
        inner / ".claude/agents": ("b", "c"),
        tmp_path / ".github/agents": ("a", "b", "c", "d"),
    }.items():
        for name in names:
            written(place / f"{name}.md", f"---\ndescription: of {place.relative_to(tmp_path)}\n---\n")
    assert {agent.name: agent.description for agent in found(inner, home).agents} == {
        "a": "of home/agents",
        "b": "of inner/.github/agents",
        "c": "of inner/.claude/agents",
        "d": "of .github/agents",
    }


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("You are a pirate.", "it doesn't begin with a block of YAML between lines of ---"),
        (
            "---\nname: [\n---\n",
            "its block isn't YAML: expected the node content, but found '<stream end>' in line 3",
        ),
        ("---\ntools: {}\n---\n", "tools: Expected `str | array | null`, got `object`"),
        ("---\na: &a [x]\nb: *a\n---\n", "aliases aren't read: write the value out"),
        ("---\n- name\n---\n", "Expected `object`, got `array`"),
        ("---\nname: x\n---\n" + "x" * 70_000, "is larger than 64 KiB"),
        ("---\nname: " + "[" * 60_000 + "\n---\n", "it is nested more than 20 levels deep"),
    ],
)
def test_a_file_that_is_no_agent_is_named_with_the_reason(tmp_path: Path, text: str, fault: str) -> None:
    path = written(tmp_path / "agents" / "pirate.md", text)
    assert found(tmp_path / "nowhere", tmp_path) == Found((), (f"{path}: {fault}",))


@pytest.mark.parametrize(
    ("line", "tools"),
    [
        ("", None),
        ("tools:", None),
        ("tools: []", ()),
        ("tools: read, edit", ("read", "edit")),
        ("tools: '*'", ("*",)),
    ],
)
def test_tools_are_a_list_or_a_text_and_left_out_they_are_all(
    tmp_path: Path, line: str, tools: tuple[str, ...] | None
) -> None:
    written(tmp_path / "agents" / "one.md", f"---\ndescription: one\n{line}\n---\n")
    assert [agent.tools for agent in found(tmp_path / "nowhere", tmp_path).agents] == [tools]


def test_a_readme_a_file_without_a_name_and_what_is_no_markdown_are_passed_over(tmp_path: Path) -> None:
    written(tmp_path / "agents" / "README.md", "About these agents.")
    written(tmp_path / "agents" / ".agent.md", "---\nname: nobody\n---\n")
    written(tmp_path / "agents" / "notes.txt", "Notes.")
    assert found(tmp_path / "nowhere", tmp_path) == Found((), ())


def test_names_that_products_share_stand_for_tools(tmp_path: Path) -> None:
    assert expand(None) is None
    assert expand(["view", "*"]) is None
    assert expand([]) == ()
    assert expand(["Read", "execute", "custom:shout"]) == (
        "Read",
        "read",
        "view",
        "execute",
        "bash",
        "custom:shout",
    )
