"""A request's body, and whether the server's connection took any of it."""

from collections.abc import Callable

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

_FIRST_PIECE = 32 * 1024
"""Bytes that aiohttp and the event loop take without a pause, whatever the server does."""


class Upload(Payload):
    """JSON to be sent; `on_sent` is called once, when the first bytes were written to the connection.

    aiohttp writes headers and first piece together and without a pause: so `sent` is true exactly when bytes
    were written, also if the task is cancelled around that moment.
    """

    _autoclose = True

    def __init__(self, body: bytes, on_sent: Callable[[], None]) -> None:
        super().__init__(body, content_type="application/json")
        self._size = len(body)
        self._body = body
        self._on_sent = on_sent
        self.sent = False

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self._body.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        await self.write_with_length(writer, None)

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        body = memoryview(self._body)
        await writer.write(body[:_FIRST_PIECE])
        if not self.sent:
            self.sent = True
            self._on_sent()
        if len(body) > _FIRST_PIECE:
            await writer.write(body[_FIRST_PIECE:])
