"""Any server that speaks OpenAI's chat completions, streaming or not."""

from collections.abc import Mapping

from turnwright.errors import ConfigError, ProviderError
from turnwright.protocol.messages import Reply
from turnwright.providers.base import ModelInfo, ModelRequest, Progress
from turnwright.providers.chat_answer import Answer
from turnwright.providers.chat_messages import Conversations, encode_request
from turnwright.providers.chat_models import model_list
from turnwright.providers.chat_reply import ReplyBuilder
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.failures import call_id
from turnwright.providers.http import CONNECT_TIMEOUT, READ_TIMEOUT, HttpClient


class OpenAIChat:
    """A provider: `POST {base_url}/chat/completions` for each call, `GET {base_url}/models` for the list.

    `bearer_token` goes before `api_key`. Times are in seconds; `read_timeout` bounds the silence between
    two pieces of an answer, not the whole of it. Raises ConfigError for a base URL or a header that can't be.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        bearer_token: str | None = None,
        headers: Mapping[str, str] = {},
        name: str = "openai",
        connect_timeout: float = CONNECT_TIMEOUT,
        read_timeout: float = READ_TIMEOUT,
    ) -> None:
        self._endpoint = Endpoint.at(base_url, name=name, token=bearer_token or api_key, headers=headers)
        self._http = HttpClient(connect_timeout=connect_timeout, read_timeout=read_timeout)
        self._conversations = Conversations()

    async def respond(self, request: ModelRequest, progress: Progress) -> Reply:
        """Carry out one model call. Raises ProviderError; cancellation closes the connection."""
        endpoint = self._endpoint_for(request)
        conversation = self._conversations.of(request)
        body = encode_request(request, conversation)
        builder = ReplyBuilder(progress if request.stream else None)
        async with self._http.request(
            endpoint, "POST", "chat/completions", body=body, on_sent=progress.sent
        ) as response:
            answer = Answer(endpoint, response)
            await answer.require_success()
            await answer.read_into(builder)
            return builder.reply(taken=conversation.call_ids, provider_call_id=call_id(response.headers))

    async def models(self) -> list[ModelInfo]:
        """The models on offer, in the server's order. Raises ProviderError."""
        async with self._http.request(self._endpoint, "GET", "models") as response:
            answer = Answer(self._endpoint, response)
            await answer.require_success()
            return model_list(await answer.json())

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    def _endpoint_for(self, request: ModelRequest) -> Endpoint:
        if not request.headers:
            return self._endpoint
        try:
            return self._endpoint.with_headers(request.headers)
        except ConfigError as error:
            raise ProviderError(str(error), sent=False) from error
