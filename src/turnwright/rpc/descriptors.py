"""File descriptors as a byte stream, and the taking over of 0 and 1."""

import asyncio
import os
import stat
from collections import deque

import anyio
import anyio.to_thread
from anyio.abc import ByteStream


def claim_stdio() -> tuple[int, int]:
    """Move descriptors 0 and 1 to private ones and return those.

    What stays behind as 0 is empty and as 1 is stderr, here and in child processes, so that a stray
    print can't get between the messages.
    """
    reading, writing = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    return reading, writing


UNREAD = 16
"""Pieces that are read ahead of the one who receives them."""


class _Readable:
    """A descriptor that the event loop watches from one piece to the next.

    To be watched anew for each message, as `anyio.wait_readable` is, takes more system calls than reading it.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pieces: deque[bytes | OSError] = deque()
        self._max_bytes = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: asyncio.Future[None] | None = None

    async def read(self, max_bytes: int) -> bytes:
        """The next piece, and none at the end. Raises OSError."""
        self._max_bytes = max_bytes
        while not self._pieces:
            if self._loop is None:
                self._loop = asyncio.get_running_loop()
                self._loop.add_reader(self._descriptor, self._read)
            self._waiting = self._loop.create_future()
            await self._waiting
        piece = self._pieces.popleft()
        if isinstance(piece, OSError):
            raise piece
        return piece

    def close(self) -> None:
        """Watch no longer; for whoever waits this is the end."""
        self._stop()
        self._put(b"")

    def _read(self) -> None:
        try:
            self._put(os.read(self._descriptor, self._max_bytes))
        except BlockingIOError:  # woken for nothing
            return
        except OSError as error:
            self._put(error)

    def _put(self, piece: bytes | OSError) -> None:
        self._pieces.append(piece)
        if not piece or isinstance(piece, OSError) or len(self._pieces) >= UNREAD:
            self._stop()
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _stop(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._descriptor)
            self._loop = None


class DescriptorStream(ByteStream):
    """Reads one descriptor and writes another, and owns both.

    Pipes, sockets and terminals are waited for; files are read in a thread. asyncio's pipe transports
    would not do: its write pipe takes bytes that arrive on a socket for a hang-up, so it breaks where stdin
    and stdout are one socket.
    """

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        can_wait_to_read = _is_pipe_or_socket(reading) or os.isatty(reading)
        self._readable = _Readable(reading) if can_wait_to_read else None
        self._can_wait_to_write = _is_pipe_or_socket(writing)
        self._closed = False
        if self._can_wait_to_write:
            os.set_blocking(writing, False)

    async def receive(self, max_bytes: int = 65536) -> bytes:
        try:
            data = await self._read(max_bytes)
        except OSError as error:
            raise anyio.BrokenResourceError from error
        if not data:
            raise anyio.EndOfStream
        return data

    async def send(self, item: bytes) -> None:
        rest = memoryview(item)
        try:
            while rest:
                rest = rest[await self._write(rest) :]
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def send_eof(self) -> None:
        raise NotImplementedError("close the stream instead")

    async def aclose(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._readable is not None:
            self._readable.close()
        if self._can_wait_to_write:
            os.set_blocking(self._writing, True)  # the flag is shared with whoever gave us the descriptor
        os.close(self._reading)
        os.close(self._writing)

    async def _read(self, max_bytes: int) -> bytes:
        if self._readable is None:
            return await anyio.to_thread.run_sync(os.read, self._reading, max_bytes)
        return await self._readable.read(max_bytes)

    async def _write(self, data: memoryview) -> int:
        if not self._can_wait_to_write:
            return await anyio.to_thread.run_sync(os.write, self._writing, data, abandon_on_cancel=True)
        while True:
            try:
                return os.write(self._writing, data)
            except BlockingIOError:
                await anyio.wait_writable(self._writing)


def _is_pipe_or_socket(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
