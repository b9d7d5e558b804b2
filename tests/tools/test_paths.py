"""Links and the working directory, for every tool that takes a path."""

from collections.abc import Callable
from pathlib import Path

import pytest

from turnwright.tools.base import Call, Tool, failure
from turnwright.tools.builtin import machine_tools
from turnwright.tools.paths import Location, inside, locate, resolve

pytestmark = pytest.mark.anyio

MakeCall = Callable[..., Call]

TOOLS = {tool.definition.name: tool for tool in machine_tools()}
WITH_PATH: list[tuple[Tool, dict[str, object]]] = [
    (TOOLS["view"], {}),
    (TOOLS["create"], {"file_text": "new"}),
    (TOOLS["edit"], {"old_str": "secret", "new_str": "public"}),
    (TOOLS["grep"], {"pattern": "secret"}),
    (TOOLS["glob"], {"pattern": "*"}),
]


@pytest.fixture
def outside(tmp_path: Path, cwd: Path) -> Path:
    """A folder beside the working directory, to which a link in it leads."""
    folder = tmp_path.resolve() / "outside"
    folder.mkdir()
    (folder / "x").write_text("secret")
    (cwd / "out").symlink_to(folder)
    (cwd / "in").symlink_to("inner")
    (cwd / "inner").mkdir()
    (cwd / "inner" / "x").write_text("secret")
    return folder


@pytest.mark.parametrize("path", ["out/x", "out/../outside/x", "in/../out/x", "out/new/x", "out"])
@pytest.mark.parametrize(
    ("tool", "arguments"), WITH_PATH, ids=[tool.definition.name for tool, _ in WITH_PATH]
)
async def test_a_link_that_leads_out_is_refused(
    make_call: MakeCall, cwd: Path, outside: Path, tool: Tool, arguments: dict[str, object], path: str
) -> None:
    """B76."""
    call = make_call(path=path, **arguments)
    location = locate(cwd, path)
    if path == "out/../outside/x":  # its spelling stays in the working directory
        assert location.shown == f"{cwd}/outside/x"
    assert "secret" not in str(tool.permission(call)).replace("old_str", "")
    assert await tool.run(call) == failure(location.refusal)
    assert [(file.name, file.read_text()) for file in outside.iterdir()] == [("x", "secret")]


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("view", {"path": "in/x"}, "1. secret"),
        ("create", {"path": "in/y", "file_text": ""}, "Created file {cwd}/in/y with 0 characters"),
        (
            "edit",
            {"path": "in/x", "old_str": "secret", "new_str": ""},
            "File {cwd}/in/x updated with changes.",
        ),
        ("grep", {"path": "in", "pattern": "sec"}, "in/x:1:secret"),
        ("glob", {"path": "in", "pattern": "*"}, "in/x"),
    ],
)
async def test_a_link_that_stays_inside_works(
    make_call: MakeCall, cwd: Path, outside: Path, name: str, arguments: dict[str, object], text: str
) -> None:
    """B76."""
    result = await TOOLS[name].run(make_call(**arguments))
    assert (result.kind, result.text) == ("success", text.format(cwd=cwd))
    assert (cwd / "in").is_symlink()


async def test_searches_do_not_follow_links(make_call: MakeCall, outside: Path) -> None:
    """B76."""
    assert (await TOOLS["grep"].run(make_call(pattern="secret"))).text == "./inner/x:1:secret"
    assert (await TOOLS["glob"].run(make_call(pattern="**/x"))).text == "./inner/x"


async def test_an_edit_through_a_link_changes_the_file_and_keeps_the_link(
    make_call: MakeCall, cwd: Path
) -> None:
    """B76."""
    (cwd / "real").write_text("a")
    (cwd / "link").symlink_to("real")
    await TOOLS["edit"].run(make_call(path="link", old_str="a", new_str="b"))
    assert ((cwd / "link").is_symlink(), (cwd / "real").read_text()) == (True, "b")


def test_a_path_outside_is_not_mistaken_for_an_escape(cwd: Path, tmp_path: Path) -> None:
    real = tmp_path.resolve() / "elsewhere"
    assert locate(cwd, "../elsewhere") == Location(str(real), real, escapes=False)
    assert locate(cwd, str(real)) == Location(str(real), real, escapes=False)


def test_inside_follows_the_links_of_both(cwd: Path, outside: Path, tmp_path: Path) -> None:
    """B76."""
    (tmp_path / "alias").symlink_to(cwd)
    assert inside(tmp_path / "alias", cwd / "inner" / "x")
    assert inside(cwd, tmp_path / "alias" / "new")
    assert inside(cwd, cwd)
    assert not inside(cwd, cwd / "out" / "x")
    assert not inside(cwd, Path(f"{cwd}-sibling"))


def test_a_loop_of_links_is_resolved_to_something_that_does_not_exist(cwd: Path) -> None:
    (cwd / "loop").symlink_to("loop")
    assert not resolve(cwd, "loop").exists()
