"""Our own stdin and stdout carry messages alone, whatever they are."""

import os
import socket
import subprocess
import sys
import tty
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.stapled import StapledByteStream
from connections import SECONDS, SERVICE, of_socket
from echo_service import decoded

from turnwright.rpc.descriptors import DescriptorStream
from turnwright.rpc.framing import Decoder, encode
from turnwright.rpc.transport import Framed

pytestmark = pytest.mark.anyio

COMMAND = [sys.executable, str(SERVICE)]
PING = b'{"jsonrpc":"2.0","id":"ping","method":"echo","params":{"value":1}}'
PONG = b'{"jsonrpc":"2.0","id":"ping","result":{"value":1}}'


async def all_of(stream: ByteReceiveStream | None) -> bytes:
    assert stream is not None
    return b"".join([chunk async for chunk in stream])


async def ended_well(process: Process) -> bool:
    async with process:
        return await process.wait() == 0


async def test_stray_output_goes_to_stderr_and_others_find_stdin_empty() -> None:
    with anyio.fail_after(SECONDS):
        async with await anyio.open_process(COMMAND) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            transport = Framed(StapledByteStream(process.stdin, process.stdout))
            await transport.send([b'{"jsonrpc":"2.0","id":1,"method":"chatter"}', PING])
            answers = [decoded(await transport.receive() or b"") for _ in range(2)]
            await process.stdin.aclose()
            assert await transport.receive() is None
            noise = await all_of(process.stderr)
    assert sorted(answers, key=str) == [
        {"jsonrpc": "2.0", "id": "ping", "result": {"value": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": ""},
    ]
    assert noise == b"text\nbytes\nchild ''\n"


async def test_files_serve_as_stdin_and_stdout(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(encode([PING, PING]))
    with (tmp_path / "in").open("rb") as requests, (tmp_path / "out").open("wb") as answers:
        completed = await anyio.run_process(COMMAND, stdin=requests, stdout=answers)
    assert completed.stderr == b""
    assert (tmp_path / "out").read_bytes() == encode([PONG, PONG])


async def test_the_null_device_serves_as_stdin() -> None:
    completed = await anyio.run_process(COMMAND, stdin=subprocess.DEVNULL)
    assert completed.stdout == b""


async def test_one_socket_serves_as_stdin_and_stdout() -> None:
    ours, theirs = socket.socketpair()
    with anyio.fail_after(SECONDS):
        end = theirs.fileno()
        process = await anyio.open_process(COMMAND, stdin=end, stdout=end, stderr=subprocess.DEVNULL)
        theirs.close()
        async with of_socket(ours) as stream:
            transport = Framed(stream)
            await transport.send([PING])
            assert await transport.receive() == PONG
            await transport.send([PING])
            assert await transport.receive() == PONG
        assert await ended_well(process)


async def test_a_terminal_serves_as_stdin_and_stdout() -> None:
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    with anyio.fail_after(SECONDS):
        process = await anyio.open_process(COMMAND, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
        async with DescriptorStream(ours, os.dup(ours)) as stream:
            await stream.send(encode([PING]))
            assert await Framed(stream).receive() == PONG
        os.close(theirs)
        assert await ended_well(process)


async def test_a_pipe_is_given_back_as_it_was() -> None:
    reading, writing = os.pipe()
    kept = os.dup(writing)
    async with DescriptorStream(reading, writing) as stream:
        assert not os.get_blocking(kept)
        sent = encode([b"x" * 1_000_000])
        decoder = Decoder()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stream.send, sent)
            while (message := decoder.next_message()) is None:
                decoder.feed(await stream.receive())
            assert message == b"x" * 1_000_000
    assert os.get_blocking(kept)
    os.close(kept)
