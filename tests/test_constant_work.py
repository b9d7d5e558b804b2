"""A turn costs the same however long the conversation: counted in calls and in bytes of JSON, not in seconds.

What may grow is the request's body, which is sent whole and copied once.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path
from statistics import median
from threading import Thread
from types import FrameType
from typing import Any, NamedTuple

import anyio
import pytest

from tests.engine.harness import Recorder, answer_everything, app_tools, options, say
from turnwright.engine.models.endpoint import Fixed
from turnwright.engine.runtime import Runtime
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.providers.openai_chat import OpenAIChat
from turnwright.store.jsonl import JsonlStore

pytestmark = pytest.mark.anyio

EARLY, LATE = range(40, 60), range(390, 410)
TURNS = LATE.stop
TOLERANCE = 1.05
"""Ids and counters get a few digits longer, and answers come in more or fewer pieces."""


DECODING = [function.__code__ for function in (wire.decode, wire.decode_or_none, wire.loads)]


class Work(NamedTuple):
    """What was done so far: calls of functions, in C too, and bytes of JSON encoded and decoded."""

    calls: int
    encoded: int
    decoded: int


class Counter:
    """Counts the work of this thread, while it is told to: being watched makes a turn far slower."""

    def __init__(self) -> None:
        self._calls = self._encoded = self._decoded = 0

    @property
    def work(self) -> Work:
        return Work(self._calls, self._encoded, self._decoded)

    def count(self, on: bool) -> None:
        sys.setprofile(self._see if on else None)

    def _see(self, frame: FrameType, happened: str, value: Any) -> None:
        if happened in ("call", "c_call"):
            self._calls += 1
            if frame.f_code in DECODING and happened == "call":
                self._decoded += len(memory(frame.f_locals["data"]))
        elif happened == "return" and frame.f_code is wire.encode.__code__:
            self._encoded += len(value)


def memory(data: Any) -> memoryview:
    """The bytes of what is to be decoded."""
    return memoryview(data.encode() if isinstance(data, str) else data)


class Model(BaseHTTPRequestHandler):
    """A model that asks for a tool so many times; it looks at nothing that it is sent."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: a second one would wait for the first one's receipt
    answered = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        number = Model.answered = Model.answered + 1
        call = {"id": f"call_{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        delta = {"content": "done"} if number == TURNS else {"tool_calls": [{"index": 0, **call}]}
        choice = {"index": 0, "delta": delta, "finish_reason": "stop" if number == TURNS else "tool_calls"}
        body = b"data: %b\n\ndata: [DONE]\n\n" % wire.encode({"id": "answer", "choices": [choice]})
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def model_server() -> Generator[str]:
    """Serve the model in a thread of its own, whose work isn't counted; its base URL."""
    Model.answered = 0
    with HTTPServer(("127.0.0.1", 0), Model) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


async def test_a_turn_costs_the_same_however_long_the_conversation_is(tmp_path: Path) -> None:
    counter, client, seen, idle = Counter(), Recorder(), list[Work](), anyio.Event()
    with model_server() as url:
        provider = OpenAIChat(url)
        store = JsonlStore(tmp_path / "state")
        async with Runtime(store, Fixed(provider, "model"), home=tmp_path, environment={}) as runtime:
            session = await runtime.create(options(tmp_path, tools=app_tools("look"), streaming=True), client)
            answer = answer_everything(session)

            def note(event: Event) -> None:
                if event.type == "assistant.turn_start":
                    counter.count(len(seen) in EARLY or len(seen) in LATE)
                    seen.append(counter.work)
                if event.type == "session.idle":
                    idle.set()
                answer(event)

            client.on_event = note
            try:
                with anyio.fail_after(40):
                    say(session, "go")
                    await idle.wait()
            finally:
                counter.count(False)
        await provider.aclose()
    assert len(seen) == TURNS
    early, late = cost(seen[EARLY.start : EARLY.stop]), cost(seen[LATE.start : LATE.stop])
    grown = [
        f"{kind}: {before} at turn {EARLY.start}, {after} at turn {LATE.start}"
        for kind, before, after in zip(Work._fields, early, late, strict=True)
        if after > before * TOLERANCE
    ]
    assert grown == []


def cost(seen: list[Work]) -> Work:
    """The middling cost of one turn, kind by kind."""
    turns = [[after - before for before, after in zip(a, b, strict=True)] for a, b in pairwise(seen)]
    return Work(*(round(median(kind)) for kind in zip(*turns, strict=True)))
