"""Connections to the echo service, one for each way that messages travel."""

import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteStream, SocketAttribute, SocketListener
from anyio.streams.stapled import StapledByteStream
from echo_service import serve

from turnwright.rpc.descriptors import DescriptorStream
from turnwright.rpc.peer import Peer
from turnwright.rpc.router import Method, Router
from turnwright.rpc.transport import Framed, Transport, memory_pair

STREAMS = ("tcp", "socketpair", "stdio")
KINDS = ("memory", *STREAMS)
SERVICE = Path(__file__).with_name("echo_service.py")
SECONDS = 20.0


@asynccontextmanager
async def stream_to_service(kind: str) -> AsyncGenerator[ByteStream, None]:
    """Bytes to and from the service; on leaving, we hang up and wait for it to end."""
    with anyio.fail_after(SECONDS):
        match kind:
            case "tcp":
                ours, theirs = await tcp_pair()
            case "socketpair":
                ours, theirs = (of_socket(end) for end in socket.socketpair())
            case _:
                async with child(sys.executable, str(SERVICE)) as stream:
                    yield stream
                return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve, Framed(theirs))
            async with ours:
                yield ours


@asynccontextmanager
async def transport_to_service(kind: str) -> AsyncGenerator[Transport, None]:
    """Whole messages to and from the service."""
    if kind != "memory":
        async with stream_to_service(kind) as stream:
            yield Framed(stream)
        return
    ours, theirs = memory_pair()
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve, theirs)
            try:
                yield ours
            finally:
                await ours.aclose()


@asynccontextmanager
async def peer_of_service(
    kind: str, methods: Mapping[str, Method[None, Any]] | None = None
) -> AsyncGenerator[Peer, None]:
    """A running peer that is connected to the service and itself serves `methods`."""
    async with transport_to_service(kind) as transport, anyio.create_task_group() as tasks:
        peer = Peer(transport, Router(methods or {}, None), name="client")
        tasks.start_soon(peer.run)
        yield peer
        peer.close()


@asynccontextmanager
async def child(*command: str) -> AsyncGenerator[ByteStream, None]:
    """Bytes to and from a child process, which must end by itself when we hang up."""
    process = await anyio.open_process(command, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with StapledByteStream(process.stdin, process.stdout) as stream:
            yield stream
        assert await process.wait() == 0
    finally:
        with anyio.CancelScope(shield=True):
            await process.aclose()


async def tcp_pair() -> tuple[ByteStream, ByteStream]:
    """Two ends of a connection over loopback."""
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        ours = await anyio.connect_tcp("127.0.0.1", listener.extra(SocketAttribute.local_port))
        accepting = listener.listeners[0]
        assert isinstance(accepting, SocketListener)
        return ours, await accepting.accept()


def of_socket(end: socket.socket) -> ByteStream:
    """One socket for both directions, as a program that is started by another may get it."""
    return DescriptorStream(os.dup(end.fileno()), end.detach())
