"""Ways to a runtime outside of this process: a child process that we start, or TCP."""

import subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
from anyio.abc import Process
from anyio.streams.stapled import StapledByteStream

from turnwright.errors import ConfigError, ConnectionClosed
from turnwright.rpc.transport import Framed, Transport

SECONDS_TO_END = 5.0
SECONDS_TO_END_AFTER_SIGTERM = 3.0


@asynccontextmanager
async def child_process(
    command: Sequence[str], environment: Mapping[str, str]
) -> AsyncGenerator[Transport, None]:
    """Start `command` and speak over its stdin and stdout; its stderr is ours.

    At the end it may finish by itself, then it gets SIGTERM, then it is killed. Raises ConfigError when it
    can't be started.
    """
    try:
        # In a session of its own: a Ctrl-C in the terminal is the app's to handle.
        process = await anyio.open_process(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise ConfigError(f"command: can't start {command[0]}: {error.strerror}") from error
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield Framed(StapledByteStream(process.stdin, process.stdout))
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)


async def _end(process: Process) -> None:
    assert process.stdin is not None
    await process.stdin.aclose()
    with anyio.move_on_after(SECONDS_TO_END):
        await process.wait()
    if process.returncode is None:
        process.terminate()
        with anyio.move_on_after(SECONDS_TO_END_AFTER_SIGTERM):
            await process.wait()
    if process.returncode is None:
        process.kill()
    await process.aclose()


@asynccontextmanager
async def tcp(address: str) -> AsyncGenerator[Transport, None]:
    """Connect to `host:port`. Raises ConfigError for another form, ConnectionClosed when nobody listens."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigError(f"address: must be host:port, not {address!r}")
    try:
        stream = await anyio.connect_tcp(host.strip("[]"), int(port))
    except OSError as error:
        raise ConnectionClosed(f"Nobody answers at {address}: {error}") from error
    async with stream:
        yield Framed(stream)
