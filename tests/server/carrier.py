"""An app that carries out model calls itself, as the tests of that need it."""

from collections.abc import Callable
from typing import Any

import anyio

from tests.cases.wired import Server, WireClient
from turnwright.protocol import wire
from turnwright.testing.chat_answers import Say, whole


class Carrier:
    """An app that answers requests for the model by `answer`; `heads` and `bodies` are what it was given."""

    def __init__(self, server: Server) -> None:
        self.heads: list[dict[str, Any]] = []
        self.bodies: list[dict[str, Any]] = []
        self.cancelled = anyio.Event()
        self.answer: Callable[[str], Any] = lambda request_id: self.say(request_id, "hello from the app")
        self.client = server.connect(
            serves={"llmInference.httpRequestStart": self.take, "llmInference.httpRequestChunk": self.feed}
        )

    async def register(self) -> None:
        assert await self.client.call("llmInference.setProvider") == {"success": True}

    async def take(self, params: dict[str, Any]) -> object:
        self.heads.append(params)
        return {}

    async def feed(self, params: dict[str, Any]) -> object:
        if params.get("cancel"):
            self.cancelled.set()
            return {}
        self.bodies.append(wire.loads(params["data"]) if params["data"] else {})
        await self.answer(params["requestId"])
        return {}

    async def head(self, request_id: str, status: int = 200, kind: str = "application/json") -> Any:
        return await self.client.call(
            "llmInference.httpResponseStart",
            requestId=request_id,
            status=status,
            headers={"Content-Type": [kind]},
        )

    async def chunk(self, request_id: str, data: str = "", **fields: Any) -> Any:
        return await self.client.call(
            "llmInference.httpResponseChunk", requestId=request_id, data=data, **fields
        )

    async def say(self, request_id: str, text: str) -> None:
        await self.head(request_id)
        await self.chunk(request_id, wire.encode(whole(Say(text), "m", 0)).decode(), end=True)


def said(client: WireClient) -> list[str]:
    """What the model said, message by message."""
    return [wire.builtins(e.data)["content"] for e in client.events if e.type == "assistant.message"]


def errors(client: WireClient) -> list[str]:
    """The messages of the session's errors."""
    return [wire.builtins(e.data)["message"] for e in client.events if e.type == "session.error"]
