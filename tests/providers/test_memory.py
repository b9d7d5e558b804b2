"""What a request leaves behind: nothing that waits for a collection of garbage, as bodies are large."""

import gc
import weakref

import pytest
from exchange import Heard, request

from turnwright.providers.openai_chat import OpenAIChat
from turnwright.testing.chat_answers import say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("stream", [False, True])
async def test_a_request_is_let_go_with_its_reply(stream: bool) -> None:
    async with ChatServer(lambda _: say("hello")) as server:
        provider = OpenAIChat(server.base_url)
        gc.disable()
        try:
            heard = Heard()
            left = weakref.ref(heard)
            await provider.respond(request(stream=stream), heard)
            del heard
            assert left() is None
        finally:
            gc.enable()
        await provider.aclose()
