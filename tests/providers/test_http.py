"""Connections to a model server: kept, refused, broken, stalled and given up."""

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.abc
import pytest
from exchange import KEY, Heard, fail, request, told

from turnwright.errors import ProviderError, StoreError
from turnwright.protocol.messages import User
from turnwright.protocol.wire import Json
from turnwright.providers.openai_chat import OpenAIChat
from turnwright.providers.transport import Timeouts
from turnwright.testing.chat_answers import Say, Send, cut, event, say, send_json, stall
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio

HALF = event({"choices": [{"index": 0, "delta": {"content": "Half"}}]})
Handler = Callable[[anyio.abc.SocketStream], Awaitable[None]]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@asynccontextmanager
async def listening(handle: Handler, port: int = 0) -> AsyncGenerator[int]:
    """A TCP server that does to each connection what `handle` does; gives its port."""

    async def serve(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await handle(stream)

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port) as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, serve)
        yield listener.extra(anyio.abc.SocketAttribute.local_port)
        tasks.cancel_scope.cancel()


async def test_turns_share_one_connection_streamed_or_not() -> None:
    async with ChatServer(lambda _: say("hello")) as server:
        provider = OpenAIChat(server.base_url)
        for stream in (False, True, True, False, True):
            await provider.respond(request(stream=stream), Heard())
        await provider.models()
        await provider.aclose()
    assert (len(server.requests), server.connections) == (5, 1)


async def test_calls_at_the_same_time_do_not_wait_for_each_other() -> None:
    gate = anyio.Event()
    async with ChatServer(lambda _: Say("hello", gate=gate)) as server:
        provider = OpenAIChat(server.base_url)
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                for n in range(120):
                    tasks.start_soon(provider.respond, request(conversation=str(n)), Heard())
                await server.wait_for_requests(120)
                gate.set()
        await provider.aclose()


@pytest.mark.parametrize("answer", [stall(), stall(HALF), Say("never", gate=anyio.Event())])
async def test_a_server_that_falls_silent_is_given_up(answer: Send | Say) -> None:
    """B04: headers or half of a reply or nothing at all, then no bytes for ever."""
    async with ChatServer([answer]) as server:
        with anyio.fail_after(10):
            error = await fail(server, Timeouts(read=0.2))
            await server.wait_for_hang_ups(1)
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    assert told(error) == {
        "message": f"provider openai at {host} sent nothing for 0.2 seconds",
        "kind": "connection",
        "retryable": True,
        "sent": True,
    }


async def test_a_server_that_does_not_read_the_request_is_given_up() -> None:
    """B04: also before the request is through."""

    async def ignore(stream: anyio.abc.SocketStream) -> None:
        await anyio.sleep_forever()

    async with listening(ignore) as port:
        provider, heard = OpenAIChat(f"http://127.0.0.1:{port}", timeouts=Timeouts(read=0.3)), Heard()
        with anyio.fail_after(10), pytest.raises(ProviderError, match="sent nothing"):
            await provider.respond(request([User("x" * 20_000_000)]), heard)
        await provider.aclose()
    assert heard.sends == 1


async def test_a_slow_reply_is_not_given_up_while_bytes_come() -> None:
    pieces = [b": still here\n\n"] * 5

    async def trickle(stream: anyio.abc.SocketStream) -> None:
        await stream.receive()
        await stream.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        for piece in pieces:
            await anyio.sleep(0.1)
            await stream.send(piece)
        await stream.send(b'data: {"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]}\n\n')

    async with listening(trickle) as port:
        provider = OpenAIChat(f"http://127.0.0.1:{port}", timeouts=Timeouts(read=0.4))
        with anyio.fail_after(10):
            reply = await provider.respond(request(stream=True), Heard())
        await provider.aclose()
    assert reply.content == "ok"


@pytest.mark.parametrize("answer", [cut(), cut(HALF)])
async def test_a_broken_connection_is_told_and_the_request_not_sent_again(answer: Send) -> None:
    async with ChatServer([answer, say("must not be asked for")]) as server:
        error = await fail(server)
    assert (error.kind, error.retryable) == ("connection", True)


async def test_a_kept_connection_that_turns_out_dead_is_told_and_not_tried_again() -> None:
    connections = 0

    async def answer_once(stream: anyio.abc.SocketStream) -> None:
        nonlocal connections
        connections += 1
        await stream.receive()
        body = b'{"choices": [{"message": {"content": "one"}}]}'
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        await stream.send(head.encode() + body)
        await stream.receive()  # the second request, on which it dies

    async with listening(answer_once) as port:
        provider, heard = OpenAIChat(f"http://127.0.0.1:{port}"), Heard()
        with anyio.fail_after(10):
            await provider.respond(request(), heard)
            with pytest.raises(ProviderError, match="broke before the reply") as raised:
                await provider.respond(request(), heard)
        await provider.aclose()
    assert (raised.value.sent, raised.value.retryable, heard.sends, connections) == (True, True, 2, 1)


async def test_a_refused_connection_is_tried_three_times_and_nothing_counts_as_sent() -> None:
    port = free_port()
    provider, heard = OpenAIChat(f"http://me:{KEY}@127.0.0.1:{port}/v1?key={KEY}", name="acme"), Heard()
    with anyio.fail_after(10), pytest.raises(ProviderError) as raised:
        await provider.respond(request(), heard)
    await provider.aclose()
    assert told(raised.value) == {
        "message": f"could not connect to provider acme at http://127.0.0.1:{port}/v1: Connection refused",
        "kind": "connection",
        "retryable": False,
        "sent": False,
    }
    assert (heard.sends, raised.value.detail) == (0, None)


async def test_a_server_that_comes_up_meanwhile_is_reached_and_one_request_sent() -> None:
    async def answer(stream: anyio.abc.SocketStream) -> None:
        await stream.receive()
        body = b'{"choices": [{"message": {"content": "up"}}]}'
        await stream.send(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + body)

    port = free_port()
    provider, heard = OpenAIChat(f"http://127.0.0.1:{port}"), Heard()
    replies: list[str] = []
    replied = anyio.Event()

    async def respond() -> None:
        replies.append((await provider.respond(request(), heard)).content)
        replied.set()

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(respond)
            await anyio.wait_all_tasks_blocked()
            async with listening(answer, port):
                await replied.wait()
    await provider.aclose()
    assert (replies, heard.sends) == (["up"], 1)


class Held(Heard):
    """A progress that holds the request back until `go_on` is set, and lets it fail then if it is to."""

    def __init__(self, refusal: StoreError | None = None) -> None:
        super().__init__()
        self.go_on = anyio.Event()
        self.asked = anyio.Event()
        self._refusal = refusal

    async def ready(self) -> None:
        self.asked.set()
        await self.go_on.wait()
        if self._refusal is not None:
            raise self._refusal


async def test_nothing_is_sent_before_the_request_may_go() -> None:
    async with ChatServer([say("first"), say("second")]) as server:
        provider, held = OpenAIChat(server.base_url), Held()
        with anyio.fail_after(10):
            await provider.respond(request(), Heard())  # its connection is kept, and used again
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(provider.respond, request(), held)
                await held.asked.wait()
                await anyio.wait_all_tasks_blocked()
                assert (len(server.requests), held.sends) == (1, 0)
                held.go_on.set()
        await provider.aclose()
    assert (len(server.requests), held.sends) == (2, 1)


async def test_a_server_that_does_not_wait_for_a_request_is_connected_to_again_once_it_may_go() -> None:
    connections = 0
    held, hung_up = Held(), anyio.Event()
    replies: list[str] = []

    async def answer(stream: anyio.abc.SocketStream) -> None:
        nonlocal connections
        connections += 1
        if not held.go_on.is_set():
            await held.asked.wait()
            await stream.aclose()
            hung_up.set()
            return
        await stream.receive()
        body = b'{"choices": [{"message": {"content": "at last"}}]}'
        await stream.send(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + body)

    async with listening(answer) as port:
        provider = OpenAIChat(f"http://127.0.0.1:{port}")

        async def respond() -> None:
            replies.append((await provider.respond(request(), held)).content)

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(respond)
                await hung_up.wait()
                await anyio.wait_all_tasks_blocked()
                held.go_on.set()
        await provider.aclose()
    assert (replies, held.sends, connections) == (["at last"], 1, 2)


async def test_a_request_that_must_not_go_is_not_sent_and_the_reason_is_told() -> None:
    async with ChatServer([say("next")]) as server:
        provider, held = OpenAIChat(server.base_url), Held(StoreError("the disk is gone"))
        held.go_on.set()
        with anyio.fail_after(10):
            with pytest.raises(StoreError, match=r"^the disk is gone$"):
                await provider.respond(request(), held)
            assert (await provider.respond(request(), Heard())).content == "next"
        await provider.aclose()
    assert (len(server.requests), held.sends, server.violations) == (1, 0, [])


async def test_a_connection_that_is_not_accepted_in_time_is_told() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        queued = [socket.socket() for _ in range(4)]
        for waiting in queued:
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", port))
        provider, heard = OpenAIChat(f"http://127.0.0.1:{port}", timeouts=Timeouts(connect=0.1)), Heard()
        with anyio.fail_after(10), pytest.raises(ProviderError, match="no answer in time") as raised:
            await provider.respond(request(), heard)
        await provider.aclose()
        for waiting in queued:
            waiting.close()
    assert (raised.value.sent, heard.sends) == (False, 0)


async def test_a_server_without_tls_is_told() -> None:
    async def greet(stream: anyio.abc.SocketStream) -> None:
        await stream.send(b"220 not TLS\r\n")

    async with listening(greet) as port:
        provider, heard = OpenAIChat(f"https://127.0.0.1:{port}"), Heard()
        with anyio.fail_after(10), pytest.raises(ProviderError, match="TLS failed") as raised:
            await provider.respond(request(), heard)
        await provider.aclose()
    assert (raised.value.sent, heard.sends) == (False, 0)


@pytest.mark.parametrize(
    "answer", [stall(), stall(HALF), Say("never", gate=anyio.Event())], ids=["headers", "half", "nothing"]
)
async def test_cancelling_closes_the_connection_at_once_and_the_next_call_works(answer: Send | Say) -> None:
    async with ChatServer([answer, say("next")]) as server:
        provider, heard = OpenAIChat(server.base_url), Heard()
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(provider.respond, request(stream=True), heard)
                await server.wait_for_requests(1)
                tasks.cancel_scope.cancel()
            await server.wait_for_hang_ups(1)
            assert (await provider.respond(request(), heard)).content == "next"
        await provider.aclose()
    assert (heard.sends, server.connections) == (2, 2)


@pytest.mark.parametrize("steps", range(12))
async def test_an_abort_at_any_moment_leaves_both_sides_with_the_same_count(steps: int) -> None:
    async with ChatServer(lambda _: Say("never", gate=anyio.Event())) as server:
        provider, heard = OpenAIChat(server.base_url), Heard()
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(provider.respond, request(), heard)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
            await server.wait_for_requests(heard.sends)
        await provider.aclose()
    assert len(server.requests) == heard.sends


async def test_redirections_are_not_followed() -> None:
    moved = Send((), 307, {"location": "/v1/elsewhere"})
    async with ChatServer([moved]) as server:
        error = await fail(server)
    assert (error.kind, error.status) == ("query", 307)


async def test_cookies_are_not_kept() -> None:
    choice: Json = {"choices": [{"message": {"content": "x"}}]}
    async with ChatServer(lambda _: send_json(choice, headers={"set-cookie": "a=b"})) as server:
        provider = OpenAIChat(server.base_url)
        for _ in range(2):
            await provider.respond(request(), Heard())
        await provider.aclose()
    assert [sent.get("cookie") for sent in server.headers] == [None, None]


async def test_a_proxy_of_the_environment_is_used_but_not_for_no_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with ChatServer(lambda _: say("hello")) as server:
        host = server.base_url.removeprefix("http://").removesuffix("/v1")
        monkeypatch.setenv("http_proxy", f"http://me:proxy-password@{host}")
        monkeypatch.setenv("no_proxy", "direct.invalid,127.0.0.1")
        through, past = OpenAIChat("http://models.invalid/v1", api_key=KEY), OpenAIChat(server.base_url)
        await through.respond(request(), Heard())
        await past.respond(request(), Heard())
        await through.aclose()
        await past.aclose()
    assert [(sent["host"], sent.get("proxy-authorization")) for sent in server.headers] == [
        ("models.invalid", "Basic bWU6cHJveHktcGFzc3dvcmQ="),
        (host, None),
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("proxy", "reason"),
    [("http://me:proxy-password@127.0.0.1:{}", "Connection refused"),
     ("socks5://me:proxy-password@127.0.0.1:{}", "the proxy for http is of kind socks5")],
)  # fmt: skip
async def test_a_proxy_that_does_not_work_is_told_without_its_password(
    proxy: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy.format(free_port()))
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    provider, heard = OpenAIChat("http://models.invalid/v1"), Heard()
    with anyio.fail_after(10), pytest.raises(ProviderError, match=reason) as raised:
        await provider.respond(request(), heard)
    await provider.aclose()
    assert "proxy-password" not in f"{raised.value} {raised.value!r} {raised.value.detail}"
    assert (raised.value.sent, heard.sends) == (False, 0)


async def test_a_netrc_file_is_neither_read_nor_in_the_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    netrc = tmp_path_factory.mktemp("home") / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password something\n")
    monkeypatch.setenv("NETRC", str(netrc))
    async with ChatServer(lambda _: say("hello")) as server:
        for key, sent in ((KEY, f"Bearer {KEY}"), (None, None)):
            provider = OpenAIChat(server.base_url, api_key=key)
            await provider.respond(request(), Heard())
            await provider.aclose()
            assert server.headers[-1].get("authorization") == sent
