"""A small service for the tests of rpc; as a script it serves its own stdin and stdout."""

import os
import sys
from collections.abc import Mapping
from typing import Any, Never

import anyio
import anyio.lowlevel
import msgspec
from msgspec import Raw

from turnwright.errors import InvalidParams, RequestFailed, SessionNotFound
from turnwright.protocol.wire import Wire
from turnwright.rpc.peer import Peer
from turnwright.rpc.router import Method, Router
from turnwright.rpc.transport import Transport, stdio


class Nothing(Wire):
    pass


class Value(Wire):
    value: Any = None


class Number(Wire):
    number: int


class Item(Wire):
    file_name: str
    sizes: list[int] | None = None


class Items(Wire):
    items: list[Item]


class Forward(Wire):
    method: str
    params: Raw


class Service:
    """One connection's state."""

    def __init__(self, transport: Transport) -> None:
        self.peer = Peer(transport, Router(METHODS, self), name="service")
        self.begun: list[int] = []
        self.gate = anyio.Event()


async def echo(service: Service, params: Value) -> object:
    return {"value": params.value}


async def store(service: Service, params: Items) -> None:
    """Return nothing."""


async def begin(service: Service, params: Number) -> None:
    service.begun.append(params.number)
    await service.gate.wait()


async def open_gate(service: Service, params: Nothing) -> list[int]:
    service.gate.set()
    return service.begun


async def slow_open(service: Service, params: Nothing) -> str:
    """An inline method that waits, as creating a session may."""
    service.peer.notify("opening", {})
    for _ in range(10):
        await anyio.lowlevel.checkpoint()
    return "open"


async def burst(service: Service, params: Number) -> None:
    for number in range(params.number):
        service.peer.notify("tick", {"number": number})


async def forward(service: Service, params: Forward) -> Raw:
    return await service.peer.call(params.method, params.params)


async def decline(service: Service, params: Nothing) -> Never:
    raise RequestFailed(-32002, "AUTHENTICATION_FAILED", {"hint": "token"})


async def miss(service: Service, params: Nothing) -> Never:
    raise SessionNotFound("Session not found: 7")


async def doubt(service: Service, params: Nothing) -> Never:
    raise InvalidParams("mode: must be plan or autopilot")


async def break_down(service: Service, params: Nothing) -> Never:
    raise ValueError("a secret of the source")


async def halves(service: Service, params: Nothing) -> str:
    return "half a pair: \ud83d"


async def loop(service: Service, params: Nothing) -> object:
    """Return what JSON can't hold."""
    endless: list[object] = []
    endless.append(endless)
    return endless


async def hang_up(service: Service, params: Nothing) -> str:
    service.peer.close()
    return "bye"


async def chatter(service: Service, params: Nothing) -> str:
    """Write to stdout in every way there is; return what stdin holds for others."""
    sys.stdout.write("text\n")
    sys.stdout.flush()
    os.write(1, b"bytes\n")
    script = "import sys; print('child', repr(sys.stdin.read()))"
    await anyio.run_process([sys.executable, "-c", script], stdin=None, stdout=None, stderr=None)
    return sys.stdin.read()


METHODS: Mapping[str, Method[Service, Any]] = {
    "echo": Method(Value, echo),
    "store": Method(Items, store),
    "begin": Method(Number, begin),
    "openGate": Method(Nothing, open_gate, inline=True),
    "slowOpen": Method(Nothing, slow_open, inline=True),
    "burst": Method(Number, burst),
    "forward": Method(Forward, forward),
    "decline": Method(Nothing, decline),
    "miss": Method(Nothing, miss),
    "doubt": Method(Nothing, doubt),
    "breakDown": Method(Nothing, break_down),
    "halves": Method(Nothing, halves),
    "loop": Method(Nothing, loop),
    "hangUp": Method(Nothing, hang_up),
    "chatter": Method(Nothing, chatter),
}


async def serve(transport: Transport) -> None:
    await Service(transport).peer.run()


async def serve_stdio() -> None:
    await serve(stdio())


def decoded(raw: Raw | bytes) -> Any:
    return msgspec.json.decode(raw)


if __name__ == "__main__":
    anyio.run(serve_stdio)
