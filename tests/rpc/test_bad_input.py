"""Input that no client should send is answered with an error, and the connection lives on."""

import sys
from typing import Any

import anyio
import pytest
from connections import KINDS, SECONDS, STREAMS, stream_to_service, tcp_pair, transport_to_service
from echo_service import decoded, serve

from turnwright.errors import RequestFailed
from turnwright.rpc import framing
from turnwright.rpc.peer import Peer
from turnwright.rpc.router import Router
from turnwright.rpc.transport import Framed, Memory, Transport, memory_pair

pytestmark = pytest.mark.anyio

PING = b'{"jsonrpc":"2.0","id":"ping","method":"echo","params":{"value":1}}'
PONG = {"jsonrpc": "2.0", "id": "ping", "result": {"value": 1}}


NOT_JSON = [
    b"",
    b"{",
    b'{"jsonrpc":"2.0","id":1,',
    b'{"id":1,"method":"echo"} {}',
    b'{"id":1,"method":5,',
    b'{"id":1,"method":"\xff"}',
    b'{"id":1,"method":"echo","params":{"value":"\xc3"}}',
    b'{"id":1,"method":"echo","params":{"value":"\\ud8"}}',
    b'{"id":1,"method":"echo","params":{"value":NaN}}',
    b'{"id":1,"method":"echo","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b"[" * 100_000,
    b"\0\0\0",
]

NOT_REQUESTS = [
    (b'[{"jsonrpc":"2.0","id":1,"method":"echo"}]', None),
    (b"[]", None),
    (b"null", None),
    (b'"echo"', None),
    (b"{}", None),
    (b'{"method":["echo"]}', None),
    (b'{"id":{"a":1},"method":"echo"}', None),
    (b'{"id":true,"method":"echo"}', None),
    (b'{"id":"x","method":5}', "x"),
    (b'{"id":"x"}', "x"),
]


async def answer_to(transport: Transport, message: bytes) -> Any:
    await transport.send([message])
    received = await transport.receive()
    assert received is not None
    return decoded(received)


async def test_of_two_answers_to_one_call_the_first_counts() -> None:
    ours, theirs = map(Framed, await tcp_pair())
    peer = Peer(ours, Router({}, None))

    async def answer_twice() -> None:
        await theirs.receive()
        await theirs.send([b'{"jsonrpc":"2.0","id":1,"result":%d}' % number for number in (1, 2)])

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peer.run)
            tasks.start_soon(answer_twice)
            assert bytes(await peer.call("count", {})) == b"1"
            peer.close()
    await theirs.aclose()


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_not_json_is_answered_and_the_next_message_served(kind: str) -> None:
    async with transport_to_service(kind) as transport:
        for message in NOT_JSON:
            answer = await answer_to(transport, message)
            assert answer["error"].pop("message").startswith("Parse error: ")
            assert answer == {"jsonrpc": "2.0", "id": None, "error": {"code": -32700}}
        assert await answer_to(transport, PING) == PONG


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_not_a_request_is_answered_and_the_next_message_served(kind: str) -> None:
    async with transport_to_service(kind) as transport:
        for message, id in NOT_REQUESTS:
            answer = await answer_to(transport, message)
            assert answer["error"].pop("message").startswith("Invalid Request: ")
            assert answer == {"jsonrpc": "2.0", "id": id, "error": {"code": -32600}}
        assert await answer_to(transport, PING) == PONG


async def test_every_depth_of_nesting_gets_an_answer() -> None:
    limit = sys.getrecursionlimit()
    codes: set[int | None] = set()
    async with transport_to_service("memory") as transport:
        for depth in (*range(limit - 100, limit + 10), 10_000, 100_000):
            nested = b"[" * depth + b"]" * depth
            answer = await answer_to(
                transport, b'{"id":1,"method":"openGate","params":{"more":' + nested + b"}}"
            )
            codes.add(answer.get("error", {}).get("code"))
        assert await answer_to(transport, PING) == PONG
    assert codes <= {None, -32602, -32700}


@pytest.mark.parametrize("kind", KINDS)
async def test_an_id_is_echoed_as_it_was_written(kind: str) -> None:
    numbers = [b"0", b"-5", b"12345678901234567890123", b"1.50", b"1e2"]
    ids = [*numbers, b"null", b'""', b'"1"', b'"a-1"', b'"\\u00e4"']
    async with transport_to_service(kind) as transport:
        for id in ids:
            await transport.send([b'{"id":' + id + b',"method":"echo","params":null}'])
            assert await transport.receive() == b'{"jsonrpc":"2.0","id":' + id + b',"result":{"value":null}}'


@pytest.mark.parametrize("kind", KINDS)
async def test_a_notification_is_never_answered(kind: str) -> None:
    async with transport_to_service(kind) as transport:
        for method in (b"none", b"miss", b"breakDown", b"echo"):
            await transport.send([b'{"jsonrpc":"2.0","method":"' + method + b'"}'])
        await transport.send([b'{"method":"echo","params":[]}', PING])
        assert decoded(await transport.receive() or b"") == PONG


@pytest.mark.parametrize("kind", KINDS)
async def test_answers_that_nobody_asked_for_are_ignored(kind: str) -> None:
    async with transport_to_service(kind) as transport:
        await transport.send(
            [
                b'{"jsonrpc":"2.0","id":99,"result":1}',
                b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
                b'{"jsonrpc":"2.0","id":"1","result":null}',
                PING,
            ]
        )
        assert decoded(await transport.receive() or b"") == PONG


@pytest.mark.parametrize("kind", STREAMS)
async def test_a_gigabyte_is_refused_before_it_is_sent(kind: str) -> None:
    async with stream_to_service(kind) as stream:
        await stream.send(b"Content-Length: 1073741824\r\n\r\n")
        message = "Content-Length: 1073741824 bytes is over the limit of 104857600"
        assert decoded(await Framed(stream).receive() or b"") == {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": -32600, "message": message},
        }


async def test_a_connection_outlives_an_oversized_message() -> None:
    ours, theirs = await tcp_pair()
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks, ours:
            tasks.start_soon(serve, Framed(theirs, limit=100))
            transport = Framed(ours)
            assert (await answer_to(transport, b" " * 101))["error"]["code"] == -32600
            assert await answer_to(transport, PING) == PONG


@pytest.mark.parametrize("kind", STREAMS)
async def test_a_header_that_makes_no_sense_is_answered_and_ends_the_connection(kind: str) -> None:
    async with stream_to_service(kind) as stream:
        await stream.send(framing.encode([PING]) + b"GET / HTTP/1.1\r\n\r\n")
        transport = Framed(stream)
        answers = [decoded(await transport.receive() or b"") for _ in range(2)]
        message = "Content-Length: N was expected, not b'GET / HTTP/1.1'"
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": message}}
        assert sorted(answers, key=str) == sorted([PONG, error], key=str)
        assert await transport.receive() is None


@pytest.mark.parametrize("kind", STREAMS)
async def test_bytes_may_come_one_at_a_time_and_messages_together(kind: str) -> None:
    """B95."""
    async with stream_to_service(kind) as stream:
        for byte in framing.encode([PING]):
            await stream.send(bytes((byte,)))
        await stream.send(framing.encode([PING, PING, PING]))
        transport = Framed(stream)
        assert [decoded(await transport.receive() or b"") for _ in range(4)] == [PONG] * 4


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b'{"id":1}', "Malformed answer to ask: neither result nor error"),
        (b'{"id":1,"error":null}', "Malformed answer to ask: neither result nor error"),
        (b'{"id":1,"error":5}', "Malformed error in answer to ask: Expected `object`, got `int`"),
        (
            b'{"id":1,"error":{"code":"x","message":"y"}}',
            "Malformed error in answer to ask: code: Expected `int`, got `str`",
        ),
    ],
)
async def test_a_malformed_answer_fails_its_caller(answer: bytes, message: str) -> None:
    ours, theirs = memory_pair()
    peer = Peer(ours, Router({}, None))

    async def reply(transport: Memory) -> None:
        assert await transport.receive() == b'{"jsonrpc":"2.0","id":1,"method":"ask","params":{}}'
        await transport.send([answer])

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peer.run)
            tasks.start_soon(reply, theirs)
            with pytest.raises(RequestFailed) as caught:
                await peer.call("ask", {})
            assert (caught.value.code, str(caught.value)) == (-32603, message)
            await theirs.aclose()
