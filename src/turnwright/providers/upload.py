"""A request's body: when it may go, and whether the server's connection took any of it."""

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

from turnwright.errors import StoreError
from turnwright.providers.transport import Departure

_FIRST_PIECE = 32 * 1024
"""Bytes that aiohttp and the event loop take without a pause, whatever the server does."""


class Upload(Payload):
    """JSON that is sent once `departure` is ready, which is told when the connection took the first bytes.

    aiohttp writes headers and first piece together and without a pause: so `sent` is true exactly when bytes
    were written, also if the task is cancelled around that moment. `refusal` is why it never became ready;
    aiohttp makes an error of the connection of it.
    """

    _autoclose = True

    def __init__(self, body: bytes, departure: Departure) -> None:
        super().__init__(body, content_type="application/json")
        self._size = len(body)
        self._body = body
        self._departure = departure
        self.sent = False
        self.refusal: StoreError | None = None
        self.is_ready = False

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self._body.decode(encoding, errors)

    async def ready(self) -> None:
        """Return when it may be sent. Raises what the departure's `ready` does."""
        await self._departure.ready()
        self.is_ready = True

    async def write(self, writer: AbstractStreamWriter) -> None:
        await self.write_with_length(writer, None)

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        try:
            await self.ready()
        except StoreError as error:
            self.refusal = error
            raise
        body = memoryview(self._body)
        await writer.write(body[:_FIRST_PIECE])
        if not self.sent:
            self.sent = True
            self._departure.sent()
        if len(body) > _FIRST_PIECE:
            await writer.write(body[_FIRST_PIECE:])
