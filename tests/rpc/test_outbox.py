"""What waits to be sent goes out in whole batches, and may not wait without bound."""

import logging
import socket
from collections.abc import Sequence

import anyio
import anyio.lowlevel
import pytest
from connections import SECONDS, of_socket
from msgspec import Raw

from turnwright.errors import ConnectionClosed
from turnwright.rpc.peer import Peer
from turnwright.rpc.router import Router
from turnwright.rpc.transport import Framed

pytestmark = pytest.mark.anyio

KIBI = 1024


class Recording:
    """A transport that keeps each write."""

    def __init__(self) -> None:
        self.writes: list[list[bytes]] = []
        self.closed = False

    async def receive(self) -> bytes | None:
        await anyio.sleep_forever()

    async def send(self, messages: Sequence[bytes]) -> None:
        await anyio.lowlevel.checkpoint()
        self.writes.append(list(messages))

    async def aclose(self) -> None:
        self.closed = True


def numbered(*numbers: int) -> list[bytes]:
    return [b'{"jsonrpc":"2.0","method":"tick","params":{"number":%d}}' % number for number in numbers]


async def test_what_one_tick_queues_goes_out_in_one_write() -> None:
    transport = Recording()
    peer = Peer(transport, Router({}, None))
    peer.notify("tick", {"number": 0})
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peer.run)
            await anyio.wait_all_tasks_blocked()
            for number in (1, 2, 3):
                peer.notify("tick", {"number": number})
            await anyio.wait_all_tasks_blocked()
            peer.notify("tick", {"number": 4})
            peer.close()
    assert transport.writes == [numbered(0), numbered(1, 2, 3), numbered(4)]
    assert transport.closed


async def test_a_reader_that_falls_behind_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    ours, theirs = (of_socket(end) for end in socket.socketpair())
    peer = Peer(Framed(ours), Router({}, None), name="viewer 7", outbox_limit=64 * KIBI)
    params = Raw(b'{"text":"' + b"x" * KIBI + b'"}')
    with anyio.fail_after(SECONDS):
        async with theirs, anyio.create_task_group() as tasks:
            tasks.start_soon(peer.run)
            woken = anyio.Event()

            async def wait_for_answer() -> None:
                with pytest.raises(ConnectionClosed):
                    await peer.call("ask", {})
                woken.set()

            tasks.start_soon(wait_for_answer)
            while not woken.is_set():
                peer.notify("tick", params)
                await anyio.lowlevel.checkpoint()
    assert [(record.levelno, record.message) for record in caplog.records] == [
        (logging.WARNING, "viewer 7: dropped, because it does not read what it is sent")
    ]


async def test_one_message_of_any_size_may_go_when_none_waits() -> None:
    transport = Recording()
    peer = Peer(transport, Router({}, None), outbox_limit=10)
    peer.notify("tick", {"number": 1})
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peer.run)
            await anyio.wait_all_tasks_blocked()
            peer.notify("tick", {"number": 2})
            peer.close()
    assert transport.writes == [numbered(1), numbered(2)]


async def test_closing_does_not_wait_for_a_reader_that_has_stopped() -> None:
    ours, theirs = (of_socket(end) for end in socket.socketpair())
    peer = Peer(Framed(ours), Router({}, None))
    with anyio.fail_after(SECONDS):
        async with theirs, anyio.create_task_group() as tasks:
            tasks.start_soon(peer.run)
            peer.notify("tick", {"text": "x" * 32 * KIBI * KIBI})
            await anyio.wait_all_tasks_blocked()
            peer.close()
