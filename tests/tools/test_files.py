"""The tools `create` and `edit`."""

import stat
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from turnwright.errors import InvalidParams
from turnwright.protocol.permissions import Write
from turnwright.tools.base import Call, FileEdit, ToolResult, failure
from turnwright.tools.files import Create, Edit

pytestmark = pytest.mark.anyio

MakeCall = Callable[..., Call]


async def create(call: Call) -> ToolResult:
    with anyio.fail_after(10):
        return await Create().run(call)


async def edit(call: Call) -> ToolResult:
    with anyio.fail_after(10):
        return await Edit().run(call)


def creation(path: Path, hunk: str) -> str:
    return (
        f"\ndiff --git a{path} b{path}\ncreate file mode 100644\nindex 0000000..0000000\n"
        f"--- a/dev/null\n+++ b{path}\n{hunk}"
    )


def update(path: Path, hunk: str) -> str:
    return f"\ndiff --git a{path} b{path}\nindex 0000000..0000000 100644\n--- a{path}\n+++ b{path}\n{hunk}"


async def test_create_writes_a_file_with_its_folders(make_call: MakeCall, cwd: Path) -> None:
    path = cwd / "src" / "new.txt"
    assert await create(make_call(path="src/new.txt", file_text="alpha\nbeta\n")) == ToolResult(
        f"Created file {path} with 11 characters",
        detail=creation(path, "@@ -1,0 +1,2 @@\n+alpha\n+beta\n"),
        edits=(FileEdit(str(path), "create", 2, 0),),
    )
    assert path.read_bytes() == b"alpha\nbeta\n"
    assert list(path.parent.iterdir()) == [path]


async def test_create_leaves_a_file_that_exists_alone(make_call: MakeCall, cwd: Path) -> None:
    (cwd / "x").write_text("old")
    assert await create(make_call(path="x", file_text="new")) == failure(
        f"Path {cwd}/x already exists. Use edit to change an existing file."
    )
    assert (cwd / "x").read_text() == "old"


async def test_of_two_who_create_a_file_one_succeeds(make_call: MakeCall, cwd: Path) -> None:
    results: list[ToolResult] = []

    async def attempt(text: str) -> None:
        results.append(await create(make_call(path="x", file_text=text)))

    async with anyio.create_task_group() as group:
        group.start_soon(attempt, "one")
        group.start_soon(attempt, "two")
    assert sorted(result.kind for result in results) == ["failure", "success"]


async def test_create_fails_clearly_where_no_folder_can_be(make_call: MakeCall, cwd: Path) -> None:
    (cwd / "x").write_text("a file")
    result = await create(make_call(path="x/y", file_text=""))
    assert result == failure(f"Could not create {cwd}/x/y: the folder's path leads to a file")


async def test_half_a_surrogate_pair_is_written_as_a_replacement_character(
    make_call: MakeCall, cwd: Path
) -> None:
    """B47."""
    result = await create(make_call(path="x", file_text="a\ud83d\n"))
    assert (cwd / "x").read_text(encoding="utf-8") == "a\ufffd\n"
    assert (result.detail or "").encode()


def test_a_new_files_whole_content_is_asked_for(make_call: MakeCall, cwd: Path) -> None:
    assert Create().permission(make_call(path="new.txt", file_text="hello world")) == Write(
        intention="Create file",
        file_name=f"{cwd}/new.txt",
        diff=creation(cwd / "new.txt", "@@ -1,0 +1,1 @@\n+hello world\n"),
        can_offer_session_approval=True,
        new_file_contents="hello world",
        tool_call_id="call_1",
    )


async def test_edit_replaces_a_text(make_call: MakeCall, cwd: Path) -> None:
    path = cwd / "new.txt"
    path.write_text("alpha\nbeta\n")
    call = make_call(path="new.txt", old_str="beta", new_str="gamma")
    diff = update(path, "@@ -1,3 +1,3 @@\n alpha\n-beta\n+gamma\n \n")
    assert Edit().permission(call) == Write(
        intention="Edit file",
        file_name=str(path),
        diff=diff,
        can_offer_session_approval=True,
        new_file_contents="alpha\ngamma\n",
        tool_call_id="call_1",
    )
    assert await edit(call) == ToolResult(
        f"File {path} updated with changes.", detail=diff, edits=(FileEdit(str(path), "update", 1, 1),)
    )
    assert path.read_text() == "alpha\ngamma\n"
    assert list(cwd.iterdir()) == [path]


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc"),
        (b"a\r\nb\r\nc", "b", "x\ny", b"a\r\nx\r\ny\r\nc"),
        (b"a\r\nb\r\n", "a\r\nb", "c\r\nd", b"c\r\nd\r\n"),
        (b"a\r\nb\nc\n", "a\nb", "x\ny", b"x\r\ny\nc\n"),
        (b"a\nb", "b", "c", b"a\nc"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        (b"caf\xe9 a", "a", "b", None),
        (b"caf\xe9 x", "x", "\u00e9", b"caf\xe9 \xc3\xa9"),
        (b"a", "a", "", b""),
        ("e\u0301".encode(), "e\u0301", "\u00e9", "\u00e9".encode()),
    ],
)
async def test_what_an_edit_does_not_touch_stays_as_it_is(
    make_call: MakeCall, cwd: Path, before: bytes, old: str, new: str, after: bytes | None
) -> None:
    (cwd / "x").write_bytes(before)
    result = await edit(make_call(path="x", old_str=old, new_str=new))
    assert result.ok == (after is not None)
    assert (cwd / "x").read_bytes() == (before if after is None else after)


async def test_an_edit_keeps_the_files_mode(make_call: MakeCall, cwd: Path) -> None:
    (cwd / "run").write_text("#!/bin/sh\n")
    (cwd / "run").chmod(0o750)
    await edit(make_call(path="run", old_str="/bin/sh", new_str="/bin/bash"))
    assert stat.S_IMODE((cwd / "run").stat().st_mode) == 0o750


@pytest.mark.parametrize(
    ("content", "old", "new", "message"),
    [
        (
            b"abc",
            "x",
            "y",
            "old_str was not found in {path}. It must be the same to the character, spaces and "
            "line breaks included; view the file to see what it holds now.",
        ),
        (
            b"aXbXc",
            "X",
            "y",
            "old_str occurs more than once in {path}. Give more of the text around it, so that "
            "it occurs only once.",
        ),
        (
            b"aaa",
            "aa",
            "y",
            "old_str occurs more than once in {path}. Give more of the text around it, so that "
            "it occurs only once.",
        ),
        (b"abc", "b", "b", "old_str and new_str are the same, so there is nothing to change."),
        (b"a\0b", "a", "b", "{path} is a binary file, which can't be edited as text."),
        (None, "a", "b", "Path {path} does not exist. Please provide a valid path."),
    ],
)
async def test_an_edit_that_can_not_be_made_says_why_and_asks_for_no_change(
    make_call: MakeCall, cwd: Path, content: bytes | None, old: str, new: str, message: str
) -> None:
    if content is not None:
        (cwd / "x").write_bytes(content)
    call = make_call(path="x", old_str=old, new_str=new)
    request = Edit().permission(call)
    assert (request.diff, request.new_file_contents) == ("", None)
    assert await edit(call) == failure(message.format(path=f"{cwd}/x"))


async def test_an_edit_of_a_directory_fails_clearly(make_call: MakeCall, cwd: Path) -> None:
    result = await edit(make_call(path=".", old_str="a", new_str="b"))
    assert result == failure(f"Could not read {cwd}: Is a directory")


async def test_an_edit_looks_again_at_what_the_file_holds_when_it_runs(
    make_call: MakeCall, cwd: Path
) -> None:
    (cwd / "x").write_text("one\n")
    call = make_call(path="x", old_str="one", new_str="two")
    assert Edit().permission(call).diff
    (cwd / "x").write_text("three\n")
    assert not (await edit(call)).ok
    assert (cwd / "x").read_text() == "three\n"


async def test_edits_of_one_file_side_by_side_are_all_kept(make_call: MakeCall, cwd: Path) -> None:
    (cwd / "x").write_text("".join(f"<{number}>\n" for number in range(20)))
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(edit, make_call(path="x", old_str=f"<{number}>", new_str=f"[{number}]"))
    assert (cwd / "x").read_text() == "".join(f"[{number}]\n" for number in range(20))


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        (Create(), {"file_text": "a"}, "path"),
        (Create(), {"path": "x", "file_text": 1}, "file_text"),
        (Edit(), {"path": "x"}, "old_str"),
        (Edit(), {"path": "x", "old_str": "", "new_str": ""}, "old_str"),
        (Edit(), {"path": "x", "old_str": "a", "new_str": None}, "new_str"),
    ],
)
async def test_wrong_arguments_are_named(
    make_call: MakeCall, tool: Create | Edit, arguments: dict[str, object], field: str
) -> None:
    with pytest.raises(InvalidParams, match=field):
        tool.permission(make_call(**arguments))
    with pytest.raises(InvalidParams, match=field):
        await tool.run(make_call(**arguments))
