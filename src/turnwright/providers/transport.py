"""How a request gets to a model server and its answer back, whoever carries it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from typing import Protocol

import msgspec

from turnwright import __version__
from turnwright.providers.endpoint import Endpoint

READ_TIMEOUT = 300.0
"""Seconds of silence after which an answer is given up."""

USER_AGENT = f"turnwright/{__version__}"

LARGEST_ANSWER = 64 * 1024 * 1024


class Timeouts(msgspec.Struct, frozen=True):
    """How long a model server is waited for, in seconds.

    To connect; for the next bytes of its answer; for the next part of the reply, whatever else comes, as
    comments and pings keep a connection open. Models may think for many minutes meanwhile.
    """

    connect: float = 10.0
    read: float = READ_TIMEOUT
    progress: float = 1800.0


PATIENCE = Timeouts()


class Response:
    """An answer: its status, its headers (lower-case names find them), and its body as it comes.

    Reading `pieces` raises ProviderError when the answer breaks off; `at_end` tells whether all of them were
    read. With `messages` each piece is a message of a websocket, which nobody ends after the last.
    """

    def __init__(
        self,
        status: int,
        headers: Mapping[str, str],
        pieces: AsyncIterator[bytes],
        at_end: Callable[[], bool],
        *,
        messages: bool = False,
    ) -> None:
        self.status = status
        self.headers = headers
        self.pieces = pieces
        self.at_end = at_end
        self.messages = messages

    @property
    def is_success(self) -> bool:
        """Whether the server took the request, or opened the websocket that was asked for."""
        if self.messages:
            return self.status == HTTPStatus.SWITCHING_PROTOCOLS
        return 200 <= self.status < 300

    @property
    def content_type(self) -> str:
        """The media type, without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def read(self, limit: int = LARGEST_ANSWER) -> bytes:
        """Return the rest of the body, at most `limit` bytes of it."""
        body = bytearray()
        async for piece in self.pieces:
            body += piece
            if len(body) >= limit:
                break
        return bytes(body[:limit])


class Departure(Protocol):
    """A request's leave: what it waits for, and who is told that it went."""

    async def ready(self) -> None:
        """Be awaited when all is prepared, before a byte is sent. Raises StoreError, and then nothing is."""
        ...

    def sent(self) -> None:
        """The request is on the wire: from here on the server has seen it. Quick, and never raises."""
        ...


class _AtOnce:
    """A departure that waits for nothing and that nobody asks after."""

    async def ready(self) -> None:
        pass

    def sent(self) -> None:
        pass


AT_ONCE: Departure = _AtOnce()


class Transport(Protocol):
    """Carries requests."""

    def request(
        self,
        endpoint: Endpoint,
        method: str,
        path: str,
        *,
        body: bytes = b"",
        departure: Departure = AT_ONCE,
    ) -> AbstractAsyncContextManager[Response]:
        """Send one request and give its response, whatever the status; leaving gives up what wasn't read.

        `departure.sent` is called once, when the server has begun to get the request; one without a body,
        which asks for nothing but data, has no such moment and waits for nothing. A request that was sent is
        never repeated. Raises ProviderError of kind connection, and what `departure.ready` raises.
        """
        ...


class Carrier(Transport, Protocol):
    """Carries requests instead of this process, over websockets too."""

    def converse(
        self,
        endpoint: Endpoint,
        path: str,
        message: bytes,
        *,
        departure: Departure = AT_ONCE,
    ) -> AbstractAsyncContextManager[Response]:
        """Open a websocket, send one message over it, and give what comes back; leaving closes it.

        A server that doesn't open it is a response with its status; nothing was sent then, and
        `departure.sent` not called. A message that was sent is never repeated. Raises what `request` does.
        """
        ...


class Route(msgspec.Struct, frozen=True):
    """How one request travels: its `headers` besides the provider's own; without a `carrier`, from here."""

    headers: Mapping[str, str] = {}
    carrier: Carrier | None = None


DIRECT = Route()


def request_headers(endpoint: Endpoint) -> dict[str, str]:
    """The headers of a request to `endpoint`, but for those that tell of its body."""
    return {"accept-encoding": "identity", "user-agent": USER_AGENT, **endpoint.headers}
