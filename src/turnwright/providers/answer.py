"""Reading a response into a reply, as a stream or whole, whichever the server sent."""

from collections.abc import Mapping
from typing import Protocol

import anyio

from turnwright.errors import InvalidParams, ProviderError
from turnwright.protocol.messages import Reply
from turnwright.protocol.wire import Json, loads
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.failures import call_id, refusal, stream_error
from turnwright.providers.loose import an_object
from turnwright.providers.paced import Paced
from turnwright.providers.sse import EventParser, ServerSentEvent
from turnwright.providers.transport import Response, Timeouts

_LARGEST_REFUSAL = 64 * 1024
_TRAILER_WAIT = 0.2
"""Seconds to wait for the end of a response whose reply is complete, so that its connection can be kept."""

_SIGNS_OF_LIFE = ("ping", "keepalive")
"""Types of events that say nothing: Anthropic's, and that of OpenAI's responses."""


class ReplyBuilder(Protocol):
    """Puts the reply of one API together.

    `empty` until there is any part of a reply; `finished` when the reply is whole, though there may be more
    to say of it; `closed` when nothing of it follows.
    """

    empty: bool
    finished: bool
    closed: bool

    def feed(self, answer: Json) -> None:
        """Take one event of a stream, or a whole answer."""
        ...

    def feed_usual(self, event: bytes) -> bool:
        """Take the data of an event of a stream if it has the API's usual form; tell whether it had.

        What has it is a part of the reply, no error and no mere sign of life.
        """
        ...

    def reply(self, *, taken: set[str], provider_call_id: str | None) -> Reply:
        """Return the whole; a call whose id is missing, or is in `taken` or used twice, gets a new one."""
        ...


class Answer:
    """A response of `endpoint` that is still to be read."""

    def __init__(self, endpoint: Endpoint, response: Response, timeouts: Timeouts) -> None:
        self._endpoint = endpoint
        self._response = response
        status, headers, seconds = response.status, response.headers, timeouts.progress

        # It must not know the answer or the response, which know it: a circle keeps a request in memory.
        def stalled() -> ProviderError:
            what = f"sent nothing of a reply for {seconds:g} seconds"
            return _failure(endpoint, status, headers, what, broken=True)

        self._pieces = response.pieces = Paced(response.pieces, seconds, stalled)

    async def require_success(self) -> None:
        """Raise the ProviderError that the server's refusal means, if it is one."""
        if not self._response.is_success:
            body = await self._response.read(_LARGEST_REFUSAL)
            raise refusal(self._endpoint, self._response.status, self._response.headers, body)

    async def json(self) -> Json:
        """Return the whole body, decoded. Raises ProviderError."""
        return self._decoded(await self._response.read())

    async def read_into(self, builder: ReplyBuilder) -> None:
        """Feed `builder` until the reply is complete. Raises ProviderError when it doesn't get there."""
        if self._response.messages:
            await self._read_messages(builder)
        elif self._response.content_type == "text/event-stream":
            await self._read_stream(builder)
        else:
            await self._read_whole(builder)
        if builder.empty:
            raise self._failure("answered without a reply")

    async def _read_whole(self, builder: ReplyBuilder) -> None:
        body = await self._response.read()
        if not body.lstrip().startswith((b"data:", b"event:", b":")):
            self._feed(builder, body)
            return
        parser = EventParser()
        events = parser.feed(body) + parser.finish()
        if not self._take(builder, events) and not builder.finished:
            raise self._cut()

    async def _read_messages(self, builder: ReplyBuilder) -> None:
        async for message in self._pieces:
            self._feed(builder, message)
            if builder.closed:
                return
        raise self._cut()

    async def _read_stream(self, builder: ReplyBuilder) -> None:
        parser = EventParser()
        done = False
        try:
            async for chunk in self._pieces:
                done = self._take(builder, parser.feed(chunk))
                if done:
                    break
        except ProviderError as error:
            if error.kind != "connection" or not builder.finished:
                raise
        except ValueError as error:
            raise self._failure(f"sent what can't be read: {error}", broken=True) from error
        if done:
            if not self._response.at_end():
                await self._read_trailer()
        elif not self._take(builder, parser.finish()) and not builder.finished:
            raise self._cut()

    async def _read_trailer(self) -> None:
        try:
            with anyio.move_on_after(_TRAILER_WAIT):
                await self._response.read()
        except ProviderError:
            return

    def _take(self, builder: ReplyBuilder, events: list[ServerSentEvent]) -> bool:
        """Feed the events to `builder`; tell whether the last of the stream was among them."""
        for event in events:
            if event.data.find(b"[DONE]") >= 0 and event.data.decode().strip() == "[DONE]":
                return True
            if event.event == "error":
                raise self._told(event.data)
            if builder.feed_usual(event.data):
                self._pieces.advance()
            elif event.data.strip():  # a blank one is a sign of life
                self._feed(builder, event.data)
            if builder.closed:
                return True
        return False

    def _feed(self, builder: ReplyBuilder, data: bytes) -> None:
        answer = self._decoded(data)
        if failed := _failure_in(answer):
            raw = data.decode(errors="replace")
            raise stream_error(self._endpoint, failed, self._response.headers, raw)
        builder.feed(answer)
        if an_object(answer).get("type") not in _SIGNS_OF_LIFE:
            self._pieces.advance()

    def _told(self, data: bytes) -> ProviderError:
        """What a server says in an event that is an error by its type."""
        raw = data.decode(errors="replace")
        try:
            said = loads(data)
        except InvalidParams:
            said = raw
        return stream_error(self._endpoint, said, self._response.headers, raw)

    def _decoded(self, body: bytes) -> Json:
        try:
            return loads(body)
        except InvalidParams as error:
            text = body.decode(errors="replace")
            raise self._failure("answered with something that is not JSON", detail=text) from error

    def _cut(self) -> ProviderError:
        return ProviderError(
            "the stream ended before the reply was complete",
            kind="connection",
            retryable=True,
            provider_call_id=call_id(self._response.headers),
        )

    def _failure(self, what: str, *, broken: bool = False, detail: str | None = None) -> ProviderError:
        response = self._response
        return _failure(self._endpoint, response.status, response.headers, what, broken=broken, detail=detail)


def _failure(
    endpoint: Endpoint,
    status: int,
    headers: Mapping[str, str],
    what: str,
    *,
    broken: bool,
    detail: str | None = None,
) -> ProviderError:
    return ProviderError(
        endpoint.mask(f"provider {endpoint.name} at {endpoint.host} {what}"),
        kind="connection" if broken else "query",
        status=status,
        retryable=broken,
        provider_call_id=call_id(headers),
        detail=endpoint.mask(detail)[:4000] if detail else None,
    )


def _failure_in(answer: Json) -> dict[str, Json]:
    """Return the part of an answer that tells of an error, in any API's shape; empty if there is none."""
    fields = an_object(answer)
    if fields.get("error") or "error" in (fields.get("type"), fields.get("object")):
        return fields
    return an_object(fields.get("response")) if fields.get("type") == "response.failed" else {}
