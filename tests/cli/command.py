"""The command line as its users have it: real processes, with or without a terminal."""

import os
import pty
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
from anyio.abc import Process

from turnwright.testing.chat_server import ChatServer

SECONDS = 40.0
"""No process may take longer; most take one."""

COMMAND = [sys.executable, "-m", "turnwright"]

# A process whose controlling terminal is its stderr, so that Ctrl-C and /dev/tty are the terminal's. A
# hang-up reaches it also where the tests run under nohup, which has all below it ignore that.
ON_TERMINAL = """
import fcntl, os, signal, sys, termios
signal.signal(signal.SIGHUP, signal.SIG_DFL)
fcntl.ioctl(2, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "turnwright", *sys.argv[1:]])
"""


class Finished(NamedTuple):
    """How a process ended, and what it wrote."""

    status: int
    out: str
    err: str


def variables(server: ChatServer | None = None, more: Mapping[str, str] = {}) -> dict[str, str]:
    """The environment of the test, with `server` as the endpoint."""
    endpoint = {"TURNWRIGHT_BASE_URL": server.base_url, "TURNWRIGHT_MODEL": "test-model"} if server else {}
    return {**os.environ, **endpoint, **more}


async def turnwright(
    *arguments: str,
    cwd: Path,
    server: ChatServer | None = None,
    stdin: bytes = b"",
    environment: Mapping[str, str] = {},
) -> Finished:
    """Run the command to its end, without a terminal; `environment` is added to the test's own."""
    with anyio.fail_after(SECONDS):
        done = await anyio.run_process(
            [*COMMAND, *arguments], cwd=cwd, input=stdin, env=variables(server, environment), check=False
        )
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())


class Screen:
    """A terminal seen from the user's side: what has been shown, and a keyboard."""

    def __init__(self, process: Process, master: int) -> None:
        self.process = process
        self.shown = ""
        self._master = master

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    async def until(self, text: str) -> None:
        """Wait until `text` has been shown after whatever `type` answered last."""
        start = len(self.shown)
        while text not in self.shown[start:]:
            assert await self._read(), f"the process ended without {text!r}; it showed {self.shown!r}"

    async def finish(self) -> Finished:
        """Wait for the end; the process's stdout is apart, what the terminal showed is `err`."""
        while await self._read():
            pass
        assert self.process.stdout is not None
        out = b"".join([piece async for piece in self.process.stdout])
        return Finished(await self.process.wait(), out.decode(), self.shown)

    async def _read(self) -> bool:
        await anyio.wait_readable(self._master)
        try:
            piece = os.read(self._master, 65536)
        except OSError:  # how Linux says that the other side of a terminal is closed
            return False
        self.shown += piece.decode().replace("\r\n", "\n")
        return bool(piece)


@asynccontextmanager
async def on_terminal(
    *arguments: str, cwd: Path, server: ChatServer, stdin_is_terminal: bool = True
) -> AsyncGenerator[Screen, None]:
    """Start the command on a terminal of its own; its stdout is a pipe."""
    master, slave = pty.openpty()
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        with anyio.fail_after(SECONDS):
            process = await anyio.open_process(
                [sys.executable, "-c", ON_TERMINAL, *arguments],
                cwd=cwd,
                env=variables(server),
                stdin=slave if stdin_is_terminal else nothing,
                stderr=slave,
                start_new_session=True,
            )
            os.close(slave)
            async with process:
                yield Screen(process, master)
    finally:
        os.close(master)
        os.close(nothing)
