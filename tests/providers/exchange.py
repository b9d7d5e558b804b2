"""What tests of providers share: a listener that remembers, and requests that say only what matters."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from turnwright.errors import ProviderError
from turnwright.protocol.messages import Message, Reply, ToolDefinition, User
from turnwright.providers.base import ModelRequest
from turnwright.providers.openai_chat import OpenAIChat
from turnwright.providers.transport import Route, Timeouts
from turnwright.testing.chat_server import ChatServer

PATIENT = Timeouts(read=10)
KEY = "sk-do-not-show-this-key"
VIEW = ToolDefinition("view", "Show a file.", {"type": "object", "properties": {"path": {"type": "string"}}})


class Heard:
    """A progress that keeps all it hears."""

    def __init__(self) -> None:
        self.sends = 0
        self.texts: list[str] = []
        self.reasonings: list[str] = []

    async def ready(self) -> None:
        pass

    def sent(self) -> None:
        self.sends += 1

    def text(self, delta: str) -> None:
        self.texts.append(delta)

    def reasoning(self, delta: str) -> None:
        self.reasonings.append(delta)


def request(
    messages: Sequence[Message] = (User("hi"),),
    *,
    stream: bool = False,
    epoch: int = 0,
    conversation: str = "c",
    headers: Mapping[str, str] = {},
    reasoning_effort: str | None = None,
    vision: bool = True,
    most_pictures: int | None = None,
    documents: bool = False,
    citations: bool = False,
    answer_schema: Mapping[str, Any] | None = None,
    answer_only: bool = False,
) -> ModelRequest:
    """A request with one tool."""
    return ModelRequest(
        model="m",
        system="You help.",
        messages=messages,
        tools=(VIEW,),
        conversation=conversation,
        epoch=epoch,
        stream=stream,
        route=Route(headers),
        reasoning_effort=reasoning_effort,
        vision=vision,
        most_pictures=most_pictures,
        documents=documents,
        citations=citations,
        answer_schema=answer_schema,
        answer_only=answer_only,
    )


async def ask(server: ChatServer, *, stream: bool = True) -> Reply:
    """The reply of `server` to a request of its own."""
    provider = OpenAIChat(server.base_url, api_key=KEY)
    try:
        return await provider.respond(request(stream=stream), Heard())
    finally:
        await provider.aclose()


async def fail(server: ChatServer, timeouts: Timeouts = PATIENT, *, stream: bool = True) -> ProviderError:
    """The error that a request to `server` ends in; it was sent once, and doesn't show the key."""
    provider, heard = OpenAIChat(server.base_url, api_key=KEY, timeouts=timeouts), Heard()
    try:
        with pytest.raises(ProviderError) as raised:
            await provider.respond(request(stream=stream), heard)
    finally:
        await provider.aclose()
    assert heard.sends == 1
    assert len(server.requests) == 1
    assert KEY not in f"{raised.value} {raised.value!r} {raised.value.detail}"
    return raised.value


def told(error: ProviderError) -> dict[str, object]:
    """All that an error says, its detail aside."""
    fields = {name: value for name, value in vars(error).items() if name != "detail" and value is not None}
    return {"message": str(error), **fields}
