"""`turnwright -p --attach`: what is attached, and what is said of what can't be."""

import os
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import turnwright
from tests.pictures import picture
from turnwright.testing.chat_answers import call, say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio

NO_PERMISSION = "Permission denied and could not request permission from user"


def told(server: ChatServer, number: int = -1) -> Any:
    """The content of the last message of a request."""
    return server.requests[number]["messages"][-1]["content"]


async def test_files_pictures_and_directories_are_attached_from_the_current_folder(folder: Path) -> None:
    (folder / "notes.txt").write_text("one\ntwo\n")
    (folder / "chart.png").write_bytes(picture())
    (folder / "src").mkdir()
    attached = [word for name in ("notes.txt", "chart.png", "src") for word in ("--attach", name)]
    async with ChatServer([say("Seen.")]) as server:
        done = await turnwright("-p", "Look.", "-C", "src", *attached, cwd=folder, server=server)
    text, name, shown = told(server)
    assert done == (0, "Seen.\n", "")
    assert text["text"].splitlines()[-5:] == [
        "<tagged_files>",
        f"* {folder}/notes.txt (2 lines)",
        f"* {folder}/chart.png (image/png, {len(picture())} bytes)",
        f"* {folder}/src (0 items)",
        "</tagged_files>",
    ]
    assert name == {"type": "text", "text": "chart.png"}
    assert shown["image_url"]["url"].startswith("data:image/png;base64,")


@pytest.mark.parametrize("attached", ["notes (old).txt", "book"])
async def test_what_is_attached_may_be_read_wherever_it_is_and_nothing_beside_it(
    folder: Path, tmp_path: Path, attached: str
) -> None:
    (tmp_path / "book").mkdir()
    path = str(tmp_path / attached / "1.txt" if attached == "book" else tmp_path / attached)
    (tmp_path / "secret.txt").write_text("not for you\n")
    Path(path).write_text("for you\n")
    reads = [call("view", {"path": path}), call("view", {"path": f"{tmp_path}/secret.txt"})]
    async with ChatServer([*reads, say("Read.")]) as server:
        done = await turnwright("-p", "Read it.", "--attach", f"../{attached}", cwd=folder, server=server)
    assert (done.status, done.out) == (0, "Read.\n")
    assert "for you" in told(server, 1)
    assert told(server) == NO_PERMISSION


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gone.txt", "can't read gone.txt: No such file or directory"),
        ("circle", "can't read circle: Too many levels of symbolic links"),
        ("pipe", "pipe is neither a file nor a directory"),
    ],
)
async def test_what_can_not_be_attached_is_wrong_usage(folder: Path, name: str, reason: str) -> None:
    (folder / "circle").symlink_to("circle")
    os.mkfifo(folder / "pipe")
    async with ChatServer([]) as server:
        done = await turnwright("-p", "Look.", "--attach", name, cwd=folder, server=server)
    assert done == (2, "", f"turnwright: --attach: {reason}\n")


def with_entry(tiff: bytes, tag: int, value: int) -> bytes:
    """A TIFF in which the entry of `tag` has another value."""
    entry = tiff.index(struct.pack("<HH", tag, 3)) + 8
    return tiff[:entry] + struct.pack("<H", value) + tiff[entry + 2 :]


BITS_PER_SAMPLE, SAMPLES_PER_PIXEL = 258, 277


@pytest.mark.parametrize(
    "data",
    [
        with_entry(picture("TIFF"), BITS_PER_SAMPLE, 0xFFFF),
        with_entry(picture("TIFF"), SAMPLES_PER_PIXEL, 2048),
    ],
    ids=["a warning", "a line of the log"],
)
async def test_of_a_damaged_picture_the_model_hears_and_not_stderr(folder: Path, data: bytes) -> None:
    (folder / "scan.tiff").write_bytes(data)
    async with ChatServer([say("It is damaged.")]) as server:
        done = await turnwright("-p", "Look.", "--attach", "scan.tiff", cwd=folder, server=server)
    assert done == (0, "It is damaged.\n", "")
    assert "scan.tiff can't be shown: it is damaged, or of a kind that can't be read." in told(server)
