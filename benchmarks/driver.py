"""A client of a runtime: raw JSON-RPC over stdio, with as little work of its own as can be.

It stands on the event loop's own callbacks and decodes only what it looks at: what it costs counts for
every runtime, and would level the differences between them.
"""

import asyncio
import os
import subprocess
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

from benchmarks.footprint import Footprint

NOTHING = Raw(b"null")


class _Event(msgspec.Struct):
    type: str
    data: Raw = NOTHING


class _Params(msgspec.Struct, rename="camel"):
    session_id: str = ""
    event: _Event | None = None


class _Incoming(msgspec.Struct):
    id: int | str | None = None
    method: str | None = None
    params: _Params | None = None
    result: Raw = NOTHING
    error: Raw = NOTHING


class _Question(msgspec.Struct, rename="camel"):
    request_id: str


_decode_incoming = msgspec.json.Decoder(_Incoming).decode
_decode_question = msgspec.json.Decoder(_Question).decode


class RunFailed(Exception):
    """The runtime refused a call, or a run ended in an error."""


class Driver:
    """A connection to a runtime that it started; `started` is the moment of that, by `time.monotonic`."""

    def __init__(self, process: subprocess.Popen[bytes], started: float) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.started = started
        self.footprint = Footprint(process.pid)
        self.sessions: dict[str, Session] = {}
        self._process = process
        self._writing = process.stdin.fileno()
        self._reading = process.stdout.fileno()
        self._buffer = b""
        self._calls: dict[str, asyncio.Future[Raw]] = {}
        self._next_id = 0

    async def call(self, method: str, params: object) -> Raw:
        """Call the runtime and return its result. Raises RunFailed."""
        self._next_id += 1
        answer = self._calls[str(self._next_id)] = asyncio.get_running_loop().create_future()
        self.send({"jsonrpc": "2.0", "id": str(self._next_id), "method": method, "params": params})
        return await answer

    def send(self, message: object) -> None:
        """Send a message; one to a runtime that doesn't read would wait for ever, and there is none here."""
        body = msgspec.json.encode(message)
        os.write(self._writing, b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def read(self) -> None:
        """Take what the runtime has written."""
        data = os.read(self._reading, 1 << 20)
        if not data:
            asyncio.get_running_loop().remove_reader(self._reading)
            for answer in self._calls.values():
                answer.set_exception(RunFailed("the runtime has ended"))
            return
        buffer = self._buffer + data
        at = 0
        while (end := buffer.find(b"\r\n\r\n", at)) >= 0:
            length = int(buffer[at + 15 : end])
            if len(buffer) < end + 4 + length:
                break
            at = end + 4 + length
            self._take(buffer[end + 4 : at])
        self._buffer = buffer[at:]

    def _take(self, body: bytes) -> None:
        message = _decode_incoming(body)
        if message.method is None:
            self._settle(message)
        elif message.params is not None and message.params.event is not None:
            session = self.sessions.get(message.params.session_id)
            if session is not None:
                session.take(message.params.event)

    def _settle(self, message: _Incoming) -> None:
        answer = self._calls.pop(str(message.id), None)
        if answer is None:
            return
        if message.error != NOTHING:
            answer.set_exception(RunFailed(bytes(message.error).decode()))
        else:
            answer.set_result(message.result)


class Session:
    """A session of a runtime: it answers the tool `noop`, and knows when the runtime is idle."""

    def __init__(self, driver: Driver, session_id: str, options: Mapping[str, Any]) -> None:
        self.id = session_id
        self._driver = driver
        self._options = options
        self._idle = asyncio.Event()
        self._error: str | None = None
        self.on_event: Callable[[str], None] | None = None
        driver.sessions[session_id] = self

    async def create(self) -> None:
        """Start the session."""
        await self._driver.call("session.create", {"sessionId": self.id, **self._options})

    async def resume(self) -> None:
        """Take the session up again."""
        await self._driver.call("session.resume", {"sessionId": self.id, **self._options})

    async def run(self, prompt: str) -> float:
        """Send a prompt and return the seconds until idle. Raises RunFailed."""
        started = time.monotonic()
        await self.send(prompt)
        await self.idle()
        return time.monotonic() - started

    async def send(self, prompt: str) -> None:
        """Send a prompt."""
        self._idle.clear()
        await self._driver.call("session.send", {"sessionId": self.id, "prompt": prompt})

    async def idle(self) -> None:
        """Wait until the runtime says idle. Raises RunFailed if it also said an error."""
        await self._idle.wait()
        if self._error is not None:
            raise RunFailed(self._error)

    def take(self, event: _Event) -> None:
        """Take an event of the session."""
        if self.on_event is not None:
            self.on_event(event.type)
        match event.type:
            case "external_tool.requested":
                self._answer(_decode_question(event.data).request_id)
            case "session.idle":
                self._idle.set()
            case "session.error":
                self._error = bytes(event.data).decode()
                self._idle.set()
            case _:
                pass

    def _answer(self, request_id: str) -> None:
        result = {"textResultForLlm": "ok", "resultType": "success"}
        params = {"sessionId": self.id, "requestId": request_id, "result": result}
        self._driver.send(
            {
                "jsonrpc": "2.0",
                "id": request_id,
                "method": "session.tools.handlePendingToolCall",
                "params": params,
            }
        )


@asynccontextmanager
async def started(command: Sequence[str], home: Path) -> AsyncGenerator[Driver]:
    """Start a runtime with a scrubbed environment and connect to it; it ends with the block."""
    moment = time.monotonic()
    process = _spawn(command, home)
    driver = Driver(process, moment)
    loop = asyncio.get_running_loop()
    assert process.stdout is not None
    assert process.stdin is not None
    loop.add_reader(process.stdout, driver.read)
    try:
        await driver.call("connect", {})
        yield driver
    finally:
        loop.remove_reader(process.stdout)
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _spawn(command: Sequence[str], home: Path) -> subprocess.Popen[bytes]:
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "COPILOT_HOME": str(home / "copilot"),
        "NO_PROXY": "*",
    }
    (home / "work").mkdir(parents=True, exist_ok=True)
    with (home / "stderr.txt").open("ab") as stderr:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment,
            cwd=home / "work",
            bufsize=0,
        )
