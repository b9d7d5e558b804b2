"""Running a child process: its output as it comes, and nothing left behind when it is stopped."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from subprocess import DEVNULL, STDOUT

import anyio
from anyio.abc import Process

from turnwright.protocol.wire import clean
from turnwright.tools import left_over
from turnwright.tools.process_tree import end_tree

Sink = Callable[[bytes], None]
"""Takes output as it comes, in the event loop: it must not raise."""

DRAIN = 0.2
"""Seconds to read on after the process has ended, for background children may hold the pipe for ever."""


async def run(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    output: Sink,
    errors: Sink | None = None,
    notes: Path | None = None,
) -> int:
    """Run a program without input or terminal, in a session of its own, and return its exit status.

    A death by signal N is status 128 + N, as in a shell. Without `errors`, `output` gets standard error
    too, in order. Returns when the process ends, whatever its background children do. Cancellation ends
    all that it started. In the folder `notes` a file tells of it meanwhile (`left_over`). Raises OSError when
    it can't be started.
    """
    with ExitStack() as streams:
        pipes = [_Pipe(streams, sink) for sink in (output, errors) if sink]
        process = await _start(command, cwd, env, pipes[0].writer, pipes[1].writer if errors else STDOUT)
        streams.enter_context(left_over.noted(notes, process.pid))
        try:
            for pipe in pipes:
                pipe.watch()
            status = await process.wait()
            with anyio.move_on_after(DRAIN):
                for pipe in pipes:
                    await pipe.ended.wait()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await end_tree(process)
            raise
    return status if status >= 0 else 128 - status


async def _start(command: Sequence[str], cwd: Path, env: Mapping[str, str], out: int, err: int) -> Process:
    with anyio.CancelScope(shield=True):  # a process that nobody got to know could not be ended
        return await anyio.open_process(
            command, stdin=DEVNULL, stdout=out, stderr=err, cwd=cwd, env=env, start_new_session=True
        )
    raise AssertionError("nothing cancels this scope")


class _Pipe:
    """A pipe of ours: the event loop's own makes the end of a process wait for the end of its output.

    It is read by the event loop itself. Tasks that read would have to be ended before a command could be.
    """

    def __init__(self, stack: ExitStack, sink: Sink) -> None:
        self.ended = anyio.Event()
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)
        stack.callback(os.close, self._reader)
        stack.callback(self._loop.remove_reader, self._reader)
        self._ours = stack.enter_context(os.fdopen(self.writer, "wb", buffering=0))

    def watch(self) -> None:
        """Give the sink what comes until no process holds the writing end any more."""
        self._ours.close()
        self._loop.add_reader(self._reader, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._reader, 64 * 1024)
        except BlockingIOError:  # woken for nothing
            return
        if data:
            self._sink(data)
        else:
            self._loop.remove_reader(self._reader)
            self.ended.set()


def check_argument(name: str, text: str) -> None:
    """Raise ValueError if `text`, which the model calls `name`, can't be passed to a program."""
    if "\0" in text or clean(text) != text:
        raise ValueError(f"{name}: can't hold a NUL or half of a surrogate pair")
