"""What connects a client to a process: frames in order, unless something goes wrong on the client's side."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

import anyio

from tests.simulation.faults import Faults
from tests.simulation.news import News

MOST_WAITING = 256
HELD_BACK = 0.5
"""Seconds after which a frame comes that another one has overtaken, at the latest."""
GARBAGE = (
    b"{",
    b"\xff\xfe\x00",
    b'"hello"',
    b'{"jsonrpc":"2.0","id":1}',
    b'{"jsonrpc":"2.0","method":"session.send","id":"g","params":{"sessionId":5}}',
    b'{"jsonrpc":"2.0","method":"session.nonsense","id":"g","params":[]}',
    b'{"jsonrpc":"2.0","method":"session.send","id":"g","params":{"sessionId":"../s","prompt":"?"}}',
    b'{"jsonrpc":"2.0","id":999,"result":{}}',
)


class Pipe:
    """One direction."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque()
        self._news = News()
        self.is_closed = False

    async def put(self, frame: bytes) -> None:
        """Add a frame, once there is room. Raises BrokenResourceError when nobody takes any."""
        while len(self._frames) >= MOST_WAITING and not self.is_closed:
            await self._news.wait()
        self.push(frame)

    def push(self, frame: bytes) -> None:
        if self.is_closed:
            raise anyio.BrokenResourceError
        self._frames.append(frame)
        self._news.tell()

    async def take(self) -> bytes | None:
        """The next frame; None when there is none left and none will come."""
        while not self._frames:
            if self.is_closed:
                return None
            await self._news.wait()
        frame = self._frames.popleft()
        self._news.tell()
        return frame

    def close(self) -> None:
        self.is_closed = True
        self._news.tell()


class ServerEnd:
    """The process's end. What a dead process says is heard by nobody."""

    def __init__(self, up: Pipe, down: Pipe, is_alive: Callable[[], bool]) -> None:
        self._up = up
        self._down = down
        self._is_alive = is_alive

    async def receive(self) -> bytes | None:
        return await self._up.take()

    async def send(self, messages: Sequence[bytes]) -> None:
        for message in messages:
            if self._is_alive():
                await self._down.put(message)

    async def aclose(self) -> None:
        self._up.close()
        self._down.close()


class ClientEnd:
    """The client's end: what it says may be doubled, overtaken or mixed with garbage; it may not listen."""

    def __init__(self, up: Pipe, down: Pipe, faults: Faults) -> None:
        self._up = up
        self._down = down
        self._faults = faults
        self._held: list[bytes] = []

    async def receive(self) -> bytes | None:
        if self._faults.strikes("stall", "a client doesn't read", 0.01):
            await anyio.sleep(self._faults.between(1, 30))
        return await self._down.take()

    async def send(self, messages: Sequence[bytes]) -> None:
        for message in messages:
            if self._faults.strikes("garbage", "on the wire", 0.05):
                self._up.push(GARBAGE[int(self._faults.between(0, len(GARBAGE)))])
            if not self._held and self._faults.strikes("reorder", shown(message)):
                self._held.append(message)
                asyncio.get_running_loop().call_later(HELD_BACK, self._let_go)
                continue
            self._up.push(message)
            if self._faults.strikes("duplicate", shown(message), 0.1):
                self._up.push(message)
            self._let_go()

    async def aclose(self) -> None:
        self._up.close()
        self._down.close()

    def _let_go(self) -> None:
        while self._held and not self._up.is_closed:
            self._up.push(self._held.pop())


def shown(message: bytes) -> str:
    """A frame's beginning, for a trace."""
    return message[:80].decode("utf-8", "replace")
