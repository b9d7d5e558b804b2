"""Running a child process: its output as it comes, and nothing left behind when it is stopped."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from subprocess import DEVNULL, STDOUT

import anyio
from anyio.abc import Process

from turnwright.protocol.wire import clean
from turnwright.tools.process_tree import end_tree

Sink = Callable[[bytes], None]
"""Takes output as it comes."""

DRAIN = 0.2
"""Seconds to read on after the process has ended, for background children may hold the pipe for ever."""


async def run(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], output: Sink, errors: Sink | None = None
) -> int:
    """Run a program without input or terminal, in a session of its own, and return its exit status.

    A death by signal N is status 128 + N, as in a shell. Without `errors`, `output` gets standard error
    too, in order. Returns when the process ends, whatever its background children do. Cancellation ends
    all that it started. Raises OSError when it can't be started.
    """
    status = 0
    with ExitStack() as streams:
        out = _Pipe(streams)
        err = _Pipe(streams) if errors else None
        process = await _start(command, cwd, env, out.writer, err.writer if err else STDOUT)
        started = anyio.current_time()
        try:
            async with anyio.create_task_group() as readers:
                readers.start_soon(out.read, output)
                if err and errors:
                    readers.start_soon(err.read, errors)
                status = await process.wait()
                readers.cancel_scope.deadline = anyio.current_time() + DRAIN
        except BaseException:
            with anyio.CancelScope(shield=True):
                await end_tree(process, anyio.current_time() - started)
            raise
    return status if status >= 0 else 128 - status


async def _start(command: Sequence[str], cwd: Path, env: Mapping[str, str], out: int, err: int) -> Process:
    with anyio.CancelScope(shield=True):  # a process that nobody got to know could not be ended
        return await anyio.open_process(
            command, stdin=DEVNULL, stdout=out, stderr=err, cwd=cwd, env=env, start_new_session=True
        )
    raise AssertionError("nothing cancels this scope")


class _Pipe:
    """A pipe of ours: the event loop's own makes the end of a process wait for the end of its output."""

    def __init__(self, stack: ExitStack) -> None:
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)
        stack.callback(os.close, self._reader)
        self._ours = stack.enter_context(os.fdopen(self.writer, "wb", buffering=0))

    async def read(self, sink: Sink) -> None:
        """Give `sink` what comes until no process holds the writing end any more."""
        self._ours.close()
        while True:
            await anyio.wait_readable(self._reader)
            data = os.read(self._reader, 64 * 1024)
            if not data:
                return
            sink(data)


def check_argument(name: str, text: str) -> None:
    """Raise ValueError if `text`, which the model calls `name`, can't be passed to a program."""
    if "\0" in text or clean(text) != text:
        raise ValueError(f"{name}: can't hold a NUL or half of a surrogate pair")
