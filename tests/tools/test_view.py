"""The tool `view`."""

import base64
import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from turnwright.errors import InvalidParams
from turnwright.protocol.messages import Image
from turnwright.protocol.permissions import Read
from turnwright.tools.base import Call, ToolResult, failure
from turnwright.tools.view import View

pytestmark = pytest.mark.anyio

MakeCall = Callable[..., Call]

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def view(call: Call) -> ToolResult:
    with anyio.fail_after(10):
        return await View().run(call)


async def test_lines_are_numbered_and_shown_to_people_as_a_diff_without_changes(
    make_call: MakeCall, cwd: Path
) -> None:
    (cwd / "notes.txt").write_text("first line\nsecond line\n")
    path = f"{cwd}/notes.txt"
    assert await view(make_call(path="notes.txt")) == ToolResult(
        "1. first line\n2. second line\n3. ",
        detail=f"\ndiff --git a{path} b{path}\nindex 0000000..0000000 100644\n--- a{path}\n+++ b{path}\n"
        "@@ -1,3 +1,3 @@\n first line\n second line\n \n",
    )


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"Created by test", "1. Created by test"),
        (b"", "1. "),
        (b"\n", "1. \n2. "),
        (b"a\r\nb\r\n", "1. a\n2. b\n3. "),
        (b"\xef\xbb\xbfmark", "1. mark"),
        ("né ü 你好 🔑 \u2028 x\x0cy".encode(), "1. né ü 你好 🔑 \u2028 x\x0cy"),
        (b"caf\xe9", "1. caf\ufffd"),
    ],
)
async def test_text_of_every_kind_is_shown(
    make_call: MakeCall, cwd: Path, content: bytes, shown: str
) -> None:
    (cwd / "x").write_bytes(content)
    assert (await view(make_call(path=f"{cwd}/x"))).text == shown


@pytest.mark.parametrize(
    ("lines", "shown"),
    [([2, 4], "2. line2\n3. line3\n4. line4"), ([5, -1], "5. line5\n6. "), ([5, 99], "5. line5\n6. ")],
)
async def test_a_range_of_lines_is_shown(
    make_call: MakeCall, cwd: Path, lines: list[int], shown: str
) -> None:
    (cwd / "lines.txt").write_text("".join(f"line{number}\n" for number in range(1, 6)))
    assert (await view(make_call(path="lines.txt", view_range=lines))).text == shown


async def test_a_range_past_the_end_fails_and_says_where_the_end_is(make_call: MakeCall, cwd: Path) -> None:
    (cwd / "x").write_text("a\nb")
    result = await view(make_call(path="x", view_range=[9, 12]))
    assert result == failure(f"view_range starts at line 9, but {cwd}/x ends at line 2.")


@pytest.mark.parametrize("lines", [[0, 2], [3, 2], [1], ["a", 2], [1, -2], 5])
async def test_a_range_that_is_none_is_refused_by_name(make_call: MakeCall, lines: object) -> None:
    call = make_call(path="x", view_range=lines)
    with pytest.raises(InvalidParams, match="view_range"):
        View().permission(call)
    with pytest.raises(InvalidParams, match="view_range"):
        await view(call)


async def test_a_huge_file_is_cut_with_the_way_to_see_more(make_call: MakeCall, cwd: Path) -> None:
    """B45."""
    with (cwd / "huge").open("w") as file:
        file.writelines(f"{number:099}\n" for number in range(1, 200_001))
    text = (await view(make_call(path="huge"))).text
    *lines, hint = text.split("\n")
    assert len(text) < 80 * 1024
    assert hint == f"[... the file goes on; use view_range from line {len(lines) + 1} to see more ...]"
    rest = await view(make_call(path="huge", view_range=[len(lines) + 1, len(lines) + 1]))
    assert rest.text == f"{len(lines) + 1}. {len(lines) + 1:099}"


async def test_a_line_of_24_megabytes_is_cut(make_call: MakeCall, cwd: Path) -> None:
    """B45."""
    (cwd / "long").write_text("x" * 24_000_000 + "\nend")
    text = (await view(make_call(path="long"))).text
    assert text == f"1. {'x' * 8192} [the rest of this line is left out]\n2. end"


async def test_a_missing_file_is_named(make_call: MakeCall, cwd: Path) -> None:
    assert await view(make_call(path=f"{cwd}/does_not_exist.txt")) == failure(
        f"Path {cwd}/does_not_exist.txt does not exist. Please provide a valid path."
    )


async def test_a_picture_comes_as_a_picture(make_call: MakeCall, cwd: Path) -> None:
    (cwd / "pixel.png").write_bytes(PIXEL)
    assert await view(make_call(path="pixel.png")) == ToolResult(
        "Viewed image file successfully.", images=(Image("image/png", base64.b64encode(PIXEL).decode()),)
    )


async def test_a_binary_file_is_not_shown_as_text(make_call: MakeCall, cwd: Path) -> None:
    (cwd / "a.out").write_bytes(b"\x7fELF\0\0")
    assert await view(make_call(path="a.out")) == failure(
        f"{cwd}/a.out is a binary file, which can't be shown as text."
    )


async def test_a_pipe_is_not_waited_for(make_call: MakeCall, cwd: Path) -> None:
    os.mkfifo(cwd / "pipe")
    assert await view(make_call(path="pipe")) == failure(f"{cwd}/pipe is not a regular file.")


async def test_a_directory_is_listed(make_call: MakeCall, cwd: Path) -> None:
    (cwd / "readme.txt").touch()
    (cwd / "src" / "deep").mkdir(parents=True)
    assert await view(make_call(path=".")) == ToolResult("readme.txt\nsrc/")
    assert await view(make_call(path="src/deep")) == ToolResult("The directory is empty.")


@pytest.mark.parametrize("path", ["", "a\0b", "a\ud83d", None, 3])
async def test_a_path_that_is_none_is_refused_by_name(make_call: MakeCall, path: object) -> None:
    with pytest.raises(InvalidParams, match="path"):
        await view(make_call(path=path))


@pytest.mark.parametrize("name", ["caf\u00e9", "cafe\u0301", "中文 🔑"])
async def test_a_name_is_taken_as_it_is_written(make_call: MakeCall, cwd: Path, name: str) -> None:
    (cwd / name).write_text("here")
    assert (await view(make_call(path=name))).text == "1. here"


async def test_the_file_that_is_read_is_what_is_asked_for(make_call: MakeCall, cwd: Path) -> None:
    (cwd / "link").symlink_to("real.txt")
    assert View().permission(make_call(path="./link")) == Read(
        intention=f"Read file: {cwd}/real.txt", path=f"{cwd}/real.txt", tool_call_id="call_1"
    )
