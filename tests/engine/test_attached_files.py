"""What a model is told of the files and directories that a message attaches."""

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.pictures import picture
from turnwright.engine.prompts.attachments import Attached, attach
from turnwright.protocol.events.conversation import UserMessage
from turnwright.protocol.messages import User
from turnwright.providers.media_limits import PictureLimits
from turnwright.store.history import user_message

pytestmark = pytest.mark.anyio

is_root = os.geteuid() == 0


async def read(folder: Path, *attachments: dict[str, Any]) -> Attached:
    with anyio.fail_after(20):
        return await attach(attachments, folder, PictureLimits())


def shown(attached: Attached) -> User:
    """What the history makes of it."""
    return user_message(UserMessage("", transformed_content="", attachments=attached.logged))


async def test_a_url_of_a_local_file_is_its_path(tmp_path: Path) -> None:
    folder = tmp_path / "été 100%"
    folder.mkdir()
    (folder / "a#b?.txt").write_text("one\ntwo\n")
    url = (folder / "a#b?.txt").as_uri()
    assert "%23" in url
    given = [
        {"type": "file", "path": url, "displayName": "a"},
        {"type": "file", "path": url.replace("file://", "FILE://localhost")},
        {"type": "directory", "path": folder.as_uri()},
    ]
    attached = await read(tmp_path, *given)
    assert attached.after == (
        f"<tagged_files>\n* {folder}/a#b?.txt (2 lines)\n* {folder}/a#b?.txt (2 lines)\n"
        f"* {folder} (1 items)\n</tagged_files>",
    )
    assert attached.logged == given


@pytest.mark.skipif(is_root, reason="the superuser may read everything")
async def test_a_directory_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    attached = await read(tmp_path, {"type": "directory", "path": "closed"})
    assert attached.after == ("<tagged_files>\n* closed (can't be read: Permission denied)\n</tagged_files>",)


@pytest.mark.parametrize(
    ("path", "extent"),
    [
        ("missing.txt", "can't be read: No such file or directory"),
        ("caf\udce9", "can't be read: No such file or directory"),
        ("binary", "binary, 4 bytes"),
        ("huge", f"{100 * 1024 * 1024} bytes"),
        ("huge.png", f"image/png, {100 * 1024 * 1024} bytes, too large to be shown"),
        ("latin", "1 lines"),
        ("empty", "0 lines"),
    ],
)
async def test_what_there_is_of_a_file_or_why_it_cannot_be_read_is_told(
    tmp_path: Path, path: str, extent: str
) -> None:
    (tmp_path / "binary").write_bytes(b"\0\1\2\3")
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    (tmp_path / "empty").touch()
    for name, start in (("huge", b"text\n"), ("huge.png", picture())):
        (tmp_path / name).write_bytes(start)
        if name == "huge":
            (tmp_path / name).write_bytes(b"text\n" * 2000)
        os.truncate(tmp_path / name, 100 * 1024 * 1024)
    attached = await read(tmp_path, {"type": "file", "path": path})
    assert attached.after == (f"<tagged_files>\n* {path} ({extent})\n</tagged_files>",)
    assert shown(attached) == User("")


async def test_a_name_that_is_not_utf8_is_counted_in_its_directory(tmp_path: Path) -> None:
    folder = tmp_path / "names"
    folder.mkdir()
    os.close(os.open(os.fsencode(folder) + b"/caf\xe9", os.O_CREAT))
    attached = await read(tmp_path, {"type": "directory", "path": "names"})
    assert attached.after == ("<tagged_files>\n* names (1 items)\n</tagged_files>",)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a\n* b.txt", r'"a\n* b.txt"'),
        ('"a"\té', r'"\"a\"\t\u00e9"'),
        ("a\u2028b", r'"a\u2028b"'),
        ('"a" é', '"a" é'),
    ],
)
async def test_a_name_that_would_break_its_line_is_told_as_a_json_string(
    tmp_path: Path, name: str, told: str
) -> None:
    (tmp_path / name).write_text("one\n")
    selected = {"type": "selection", "filePath": name, "text": "one"}
    broken = {"type": "blob", "mimeType": "image/png", "displayName": name, "data": "%%%"}
    attached = await read(tmp_path, {"type": "file", "path": name}, selected, broken)
    assert attached.before[0].split("\n")[2] == f"File: {told}"
    assert attached.after == (
        f"<tagged_files>\n* {told} (1 lines)\n</tagged_files>",
        f"The attachment {told} is not valid base64.",
    )


async def test_what_can_not_be_the_name_of_a_file_is_said_not_to_be(tmp_path: Path) -> None:
    attached = await read(tmp_path, {"type": "file", "path": "a\0b"})
    fault = "can't be read: that can't be the name of a file"
    assert attached.after == (f'<tagged_files>\n* "a\\u0000b" ({fault})\n</tagged_files>',)


async def test_a_file_that_is_attached_as_a_directory_is_said_to_be_one_and_the_reverse(
    tmp_path: Path,
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("one\n")
    attached = await read(tmp_path, {"type": "file", "path": "sub"}, {"type": "directory", "path": "a.txt"})
    assert attached.after == (
        "<tagged_files>\n* sub (a directory, not a file: 0 items)\n"
        "* a.txt (a file, not a directory: 1 lines)\n</tagged_files>",
    )


@pytest.mark.parametrize(
    ("start", "end", "extent"),
    [
        (3, 3, "line 3 of 3 lines"),
        (2, 9, "lines 2-3 of 3 lines"),
        (3, 9, "line 3 of 3 lines"),
        (4, 9, "3 lines: there is no line 4"),
    ],
)
async def test_a_range_of_lines_ends_with_the_file_and_one_beyond_it_is_told(
    tmp_path: Path, start: int, end: int, extent: str
) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    attached = await read(
        tmp_path, {"type": "file", "path": "a.txt", "lineRange": {"start": start, "end": end}}
    )
    assert attached.after == (f"<tagged_files>\n* a.txt ({extent})\n</tagged_files>",)
