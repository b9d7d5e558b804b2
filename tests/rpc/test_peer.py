"""Calls, notifications and answers, the same over every transport."""

from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from connections import KINDS, peer_of_service, transport_to_service
from echo_service import Nothing, Number, Value, decoded
from msgspec import Raw

from turnwright.errors import ConnectionClosed, RequestFailed
from turnwright.rpc.peer import Peer
from turnwright.rpc.router import Method, Router
from turnwright.rpc.transport import Transport, memory_pair

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("kind", KINDS)]

MEBI = 1024 * 1024


async def raised(peer: Peer, method: str, params: object) -> tuple[int, str, object]:
    with pytest.raises(RequestFailed) as caught:
        await peer.call(method, params)
    return caught.value.code, str(caught.value), caught.value.data


async def replies(transport: Transport, count: int) -> list[Any]:
    received = [await transport.receive() for _ in range(count)]
    return [decoded(message) for message in received if message is not None]


async def test_a_call_returns_the_result(kind: str) -> None:
    async with peer_of_service(kind) as peer:
        assert decoded(await peer.call("echo", {"value": [1, "ä🔑", None]})) == {"value": [1, "ä🔑", None]}
        assert decoded(await peer.call("store", {"items": []})) is None


async def test_params_may_be_a_struct_or_encoded_already(kind: str) -> None:
    async with peer_of_service(kind) as peer:
        assert decoded(await peer.call("echo", Value(value=1))) == {"value": 1}
        assert decoded(await peer.call("echo", Raw(b'{ "value" : 2 }'))) == {"value": 2}


async def test_a_megabyte_goes_there_and_back(kind: str) -> None:
    """B95."""
    async with peer_of_service(kind) as peer:
        results: list[Any] = []

        async def ask(text: str) -> None:
            results.append(decoded(await peer.call("echo", {"value": text})))

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(ask, "x" * MEBI)
        assert results == [{"value": "x" * MEBI}] * 3


async def test_half_a_surrogate_pair_goes_out_as_a_replacement(kind: str) -> None:
    async with peer_of_service(kind) as peer:
        assert decoded(await peer.call("halves", {})) == "half a pair: \ufffd"
        assert decoded(await peer.call("echo", {"value": "\udc00"})) == {"value": "\ufffd"}


async def test_half_a_surrogate_pair_that_is_escaped_comes_in_as_a_replacement(kind: str) -> None:
    """B47: JavaScript writes such an escape for text that was cut within an emoji."""
    async with transport_to_service(kind) as transport:
        await transport.send(
            [rb'{"id":1,"method":"echo","params":{"value":"cut \ud83d, not \\ud83d or \ud83d\udd11"}}']
        )
        assert await replies(transport, 1) == [
            {"jsonrpc": "2.0", "id": 1, "result": {"value": "cut \ufffd, not \\ud83d or \U0001f511"}}
        ]


async def test_errors_come_back_as_the_service_raised_them(kind: str) -> None:
    async with peer_of_service(kind) as peer:
        methods = ("decline", "miss", "doubt", "breakDown", "loop")
        assert [await raised(peer, method, {}) for method in methods] == [
            (-32002, "AUTHENTICATION_FAILED", {"hint": "token"}),
            (-32603, "Request miss failed with message: Session not found: 7", None),
            (-32602, "mode: must be plan or autopilot", None),
            (-32603, "Request breakDown failed with message: Internal error", None),
            (-32603, "Request loop failed with message: Internal error", None),
        ]
        assert decoded(await peer.call("echo", {})) == {"value": None}


async def test_bad_params_name_the_field(kind: str) -> None:
    async with peer_of_service(kind) as peer:
        bad: list[object] = [
            {},
            {"items": [{"fileName": "a", "sizes": [1, "2"]}]},
            {"items": [{"fileName": "a"}, {}]},
            [1],
            "text",
        ]
        assert [await raised(peer, "store", params) for params in bad] == [
            (-32602, "Object missing required field `items`", None),
            (-32602, "items[0].sizes[1]: Expected `int`, got `str`", None),
            (-32602, "items[1]: Object missing required field `fileName`", None),
            (-32602, "params: must be an object", None),
            (-32602, "params: must be an object", None),
        ]


async def test_an_unknown_method_is_named(kind: str) -> None:
    async with peer_of_service(kind) as peer:
        assert await raised(peer, "session.sendAndWait", {}) == (
            -32601,
            "Unhandled method session.sendAndWait",
            None,
        )


async def test_the_service_calls_us_while_it_serves_our_call(kind: str) -> None:
    async def double(context: None, params: Number) -> int:
        return 2 * params.number

    async with peer_of_service(kind, {"double": Method(Number, double)}) as peer:
        forwarded = {"method": "double", "params": {"number": 21}}
        assert decoded(await peer.call("forward", forwarded)) == 42
        assert await raised(peer, "forward", {"method": "none", "params": {}}) == (
            -32601,
            "Unhandled method none",
            None,
        )


async def test_notifications_and_answers_keep_their_order(kind: str) -> None:
    numbers: list[int] = []

    async def tick(context: None, params: Number) -> None:
        numbers.append(params.number)

    async with peer_of_service(kind, {"tick": Method(Number, tick, inline=True)}) as peer:
        await peer.call("burst", {"number": 1000})
        assert numbers == list(range(1000))


async def test_handlers_begin_in_the_order_of_the_requests(kind: str) -> None:
    async with peer_of_service(kind) as peer, anyio.create_task_group() as tasks:
        for number in range(50):
            peer.notify("begin", {"number": number})
        assert decoded(await peer.call("openGate", {})) == list(range(50))
        tasks.start_soon(partial(peer.call, "begin", {"number": 50}))


async def test_an_inline_method_is_answered_before_later_messages_are_read(kind: str) -> None:
    async with transport_to_service(kind) as transport:
        await transport.send(
            [
                b'{"jsonrpc":"2.0","id":"a","method":"slowOpen"}',
                b'{"jsonrpc":"2.0","id":"b","method":"echo","params":{"value":1}}',
            ]
        )
        assert await replies(transport, 3) == [
            {"jsonrpc": "2.0", "method": "opening", "params": {}},
            {"jsonrpc": "2.0", "id": "a", "result": "open"},
            {"jsonrpc": "2.0", "id": "b", "result": {"value": 1}},
        ]


async def test_a_request_that_waits_does_not_hold_up_others(kind: str) -> None:
    async with peer_of_service(kind) as peer, anyio.create_task_group() as tasks:
        tasks.start_soon(partial(peer.call, "begin", {"number": 1}))
        assert decoded(await peer.call("echo", {"value": 2})) == {"value": 2}
        assert decoded(await peer.call("openGate", {})) == [1]


async def test_a_call_times_out_and_its_late_answer_is_ignored(kind: str) -> None:
    async with peer_of_service(kind) as peer:
        with pytest.raises(TimeoutError):
            await peer.call("begin", {"number": 1}, timeout=0)
        assert decoded(await peer.call("openGate", {})) == [1]
        assert decoded(await peer.call("echo", {})) == {"value": None}


async def test_a_hang_up_wakes_every_caller_after_what_was_queued_was_sent(kind: str) -> None:
    async with peer_of_service(kind) as peer:
        outcomes: list[str] = []

        async def wait_for_answer(number: int) -> None:
            with pytest.raises(ConnectionClosed) as caught:
                await peer.call("begin", {"number": number})
            outcomes.append(str(caught.value))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait_for_answer, 1)
            tasks.start_soon(wait_for_answer, 2)
            assert decoded(await peer.call("hangUp", {})) == "bye"
        assert outcomes == ["The connection closed before begin was answered"] * 2
        with pytest.raises(ConnectionClosed):
            await peer.call("echo", {})
        peer.notify("echo", {})


async def test_a_hang_up_cancels_running_handlers_without_a_word(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    ended: list[str] = []
    begun = anyio.Event()

    async def wait(context: None, params: Nothing) -> None:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("wait")

    async with peer_of_service(kind, {"wait": Method(Nothing, wait)}) as peer:
        peer.notify("forward", {"method": "wait", "params": {}})
        await begun.wait()
    assert ended == ["wait"]
    assert [record.message for record in caplog.records] == []


async def test_a_peer_that_is_cancelled_still_sends_what_was_queued(kind: str) -> None:
    del kind
    ours, theirs = memory_pair()
    peer = Peer(ours, Router({}, None))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peer.run)
            await anyio.lowlevel.checkpoint()
            peer.notify("last", {})
            tasks.cancel_scope.cancel()
        assert await theirs.receive() == b'{"jsonrpc":"2.0","method":"last","params":{}}'
        assert await theirs.receive() is None
        await theirs.aclose()
