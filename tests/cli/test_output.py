"""`turnwright -p` where its output goes nowhere: its reader has left, a disk is full, a stream is closed."""

import errno
import os
from pathlib import Path

import anyio
import pytest

from tests.cli.command import COMMAND, SECONDS, variables
from turnwright.testing.chat_answers import Say, say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio

FULL = f"turnwright: can't write to stdout: {os.strerror(errno.ENOSPC)}\n".encode()


async def test_a_reader_that_leaves_stops_the_run(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    async with ChatServer([Say("late", gate=anyio.Event())]) as server:
        try:
            with anyio.fail_after(SECONDS):
                done = await anyio.run_process(
                    [*COMMAND, "-p", "hi", "--output-format", "stream-json"],
                    cwd=tmp_path,
                    env=variables(server),
                    stdout=write,
                    check=False,
                )
        finally:
            os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize(
    ("output_format", "redirection", "expected"),
    [
        ("text", ">&-", (0, b"", b"")),
        ("text", "2>&-", (0, b"hello\n", b"")),
        ("text", ">/dev/full", (1, b"", FULL)),
        ("stream-json", ">/dev/full", (1, b"", FULL)),
    ],
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
async def test_output_that_cannot_be_written_is_told_in_a_line(
    tmp_path: Path, output_format: str, redirection: str, expected: tuple[int, bytes, bytes]
) -> None:
    arguments = [*COMMAND, "-p", "hi", "--output-format", output_format]
    async with ChatServer([say("hello")] * 2) as server:
        with anyio.fail_after(SECONDS):
            done = await anyio.run_process(
                ["sh", "-c", f'exec "$@" {redirection}', "sh", *arguments],
                cwd=tmp_path,
                env=variables(server),
                check=False,
            )
    assert (done.returncode, done.stdout, done.stderr) == expected
