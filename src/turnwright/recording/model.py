"""Models that record, and models that replay what was recorded."""

import sys
from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel

from turnwright.errors import ProviderError
from turnwright.protocol.messages import Reply
from turnwright.providers.base import ModelInfo, ModelRequest, Progress, Provider
from turnwright.providers.transport import DIRECT, Route
from turnwright.recording.dialogue import SUMMARY, Dialogue, answer_of, reply_of
from turnwright.recording.difference import Difference, difference
from turnwright.recording.form import FORMAT, Exchange, Failure, Recording
from turnwright.recording.places import Places


class _Conversations:
    """The conversations of a run, named "1", "2" and so on as they come; summaries after their session."""

    def __init__(self, places: Callable[[str], Places]) -> None:
        self._places = places
        self._names: dict[str, str] = {}
        self._dialogues: dict[str, Dialogue] = {}

    def of(self, request: ModelRequest) -> tuple[Dialogue, Places, str]:
        session, _, rest = request.conversation.partition("/")
        # Interned, it is the default itself, which a file leaves out.
        name = self._names.setdefault(session, sys.intern(str(len(self._names) + 1)))
        name = f"{name}/{SUMMARY}" if rest else name
        places = self._places(session)
        return self._dialogues.setdefault(name, Dialogue(name, places)), places, name


class Recorder:
    """A provider that hands everything on to another, and records it."""

    def __init__(self, provider: Provider, places: Callable[[str], Places]) -> None:
        self.recording = Recording(FORMAT, model="")
        self._provider = provider
        self._conversations = _Conversations(places)

    async def respond(self, request: ModelRequest, progress: Progress) -> Reply:
        dialogue, places, _ = self._conversations.of(request)
        exchange = dialogue.ask(request.system, request.messages)
        self.recording.exchanges.append(exchange)
        self.recording.model = self.recording.model or request.model
        try:
            reply = await self._provider.respond(request, progress)
        except ProviderError as error:
            exchange.failure = Failure(places.hide(str(error)), error.status, error.retryable)
            raise
        exchange.reply = answer_of(reply, places)
        return reply

    async def models(self, route: Route = DIRECT) -> list[ModelInfo]:
        return await self._provider.models(route)

    async def aclose(self) -> None:
        await self._provider.aclose()


Turn = Callable[[Exchange], Awaitable[None]]


async def _nothing(exchange: Exchange) -> None:
    pass


class Replay:
    """A provider that replies as recorded, as long as it is told what was recorded.

    The first request that differs fails, with `difference` saying where; so do all after it. `before_reply`
    is awaited once a request is known to be the recorded one. Requests after the first `until` go to `then`.
    """

    def __init__(
        self,
        recording: Recording,
        places: Callable[[str], Places],
        *,
        before_reply: Turn = _nothing,
        until: int | None = None,
        then: Provider | None = None,
    ) -> None:
        self.difference: Difference | None = None
        self.served = 0
        self._recording = recording
        self._places = places
        self._left: list[tuple[int, Exchange]] = list(enumerate(recording.exchanges[:until], 1))
        self._conversations = _Conversations(places)
        self._before_reply = before_reply
        self._then = then

    @property
    def left(self) -> int:
        """How many recorded requests did not come."""
        return len(self._left)

    def left_of(self, conversation: str) -> int:
        """How many of a conversation's recorded requests did not come yet."""
        return sum(each.conversation == conversation for _, each in self._left)

    async def respond(self, request: ModelRequest, progress: Progress) -> Reply:
        if self._then is not None and not self._left:
            return await self._then.respond(request, progress)
        await progress.ready()
        progress.sent()
        await anyio.lowlevel.checkpoint()
        exchange, places = self._next(request)
        await self._before_reply(exchange)
        if exchange.failure is not None:
            failure = exchange.failure
            message = places.show(failure.message)
            raise ProviderError(message, status=failure.status, retryable=failure.retried, retry_after=0.0)
        if exchange.reply is None:
            await anyio.sleep_forever()  # it was aborted
        reply = reply_of(exchange.reply, places) if exchange.reply is not None else Reply()
        progress.text(reply.content)
        return reply

    def _next(self, request: ModelRequest) -> tuple[Exchange, Places]:
        dialogue, places, name = self._conversations.of(request)
        actual = dialogue.ask(request.system, request.messages)
        place = next((i for i, (_, each) in enumerate(self._left) if each.conversation == name), None)
        if self.difference is None and place is None:
            ended = f"there is no request {len(self._recording.exchanges) + 1} in conversation {name}"
            self.difference = Difference(self.served + 1, ended, ())
        elif self.difference is None and place is not None:
            number, expected = self._left[place]
            self.difference = difference(number, expected, actual)
            if self.difference is None:
                del self._left[place]
                self.served += 1
                return expected, places
        raise ProviderError(f"The request is not the one that was recorded: {self.difference}")

    async def models(self, route: Route = DIRECT) -> list[ModelInfo]:
        name = self._recording.model or "recorded"
        return [ModelInfo(name, name, self._recording.window)]

    async def aclose(self) -> None:
        if self._then is not None:
            await self._then.aclose()
