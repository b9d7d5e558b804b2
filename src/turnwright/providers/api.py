"""A provider over HTTP: one request for each model call, in the form of the API that the server speaks."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Generic

from msgspec import Struct

from turnwright.errors import ConfigError, ProviderError
from turnwright.protocol.messages import Reply
from turnwright.providers.answer import Answer, ReplyBuilder
from turnwright.providers.base import ModelInfo, ModelRequest, Progress
from turnwright.providers.conversation import C, Conversations
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.failures import call_id
from turnwright.providers.http import HttpClient
from turnwright.providers.model_list import model_list
from turnwright.providers.transport import DIRECT, PATIENCE, Departure, Response, Route, Timeouts


class Api(Struct, Generic[C], frozen=True):
    """How one API is spoken.

    `path` gives the path of a request below the base URL. `begin` opens a conversation, and `encode` makes a
    request's body of it; `message` makes what is sent instead over a websocket, where the API is to be spoken
    so. `builder` makes what reads the answer; its progress is None unless the call streams.
    """

    path: Callable[[ModelRequest], str]
    begin: Callable[[ModelRequest], C]
    encode: Callable[[ModelRequest, C], bytes]
    builder: Callable[[ModelRequest, Progress | None], ReplyBuilder]
    models_path: str = "models"
    message: Callable[[ModelRequest, C], bytes] | None = None


class ApiProvider(Generic[C]):
    """A provider: one POST for each call, a GET for the list of models."""

    def __init__(self, endpoint: Endpoint, api: Api[C], *, timeouts: Timeouts = PATIENCE) -> None:
        self._endpoint = endpoint
        self._api = api
        self._timeouts = timeouts
        self._with_headers: tuple[Mapping[str, str], Endpoint] = {}, endpoint
        self._http = HttpClient(timeouts)
        self._conversations = Conversations(api.begin)

    async def respond(self, request: ModelRequest, progress: Progress) -> Reply:
        """Carry out one model call. Raises ProviderError; cancellation closes the connection."""
        api, endpoint = self._api, self._endpoint_for(request.route)
        conversation = self._conversations.of(request)
        builder = api.builder(request, progress if request.stream else None)
        async with self._sent(endpoint, request, conversation, progress) as response:
            answer = Answer(endpoint, response, self._timeouts)
            await answer.require_success()
            await answer.read_into(builder)
            return builder.reply(taken=conversation.call_ids, provider_call_id=call_id(response.headers))

    async def models(self, route: Route = DIRECT) -> list[ModelInfo]:
        """The models on offer, in the server's order. Raises ProviderError."""
        endpoint, transport = self._endpoint_for(route), route.carrier or self._http
        async with transport.request(endpoint, "GET", self._api.models_path) as response:
            answer = Answer(endpoint, response, self._timeouts)
            await answer.require_success()
            return model_list(await answer.json())

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    def _sent(
        self, endpoint: Endpoint, request: ModelRequest, conversation: C, departure: Departure
    ) -> AbstractAsyncContextManager[Response]:
        """Websockets are opened by those who carry requests, who chose them; from here all goes over HTTP."""
        api, carrier, path = self._api, request.route.carrier, self._api.path(request)
        if carrier and api.message:
            message = api.message(request, conversation)
            return carrier.converse(endpoint, path, message, departure=departure)
        body = api.encode(request, conversation)
        return (carrier or self._http).request(endpoint, "POST", path, body=body, departure=departure)

    def _endpoint_for(self, route: Route) -> Endpoint:
        headers, endpoint = self._with_headers  # of the last request: most come with the same
        if headers != route.headers:
            try:
                endpoint = self._endpoint.with_headers(route.headers)
            except ConfigError as error:
                raise ProviderError(str(error), sent=False) from error
            self._with_headers = route.headers, endpoint
        return endpoint
