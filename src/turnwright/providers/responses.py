"""Any server that speaks OpenAI's responses, streaming or not."""

from collections.abc import Mapping

from turnwright.providers.api import Api, ApiProvider
from turnwright.providers.base import ModelRequest
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.responses_input import (
    ResponsesConversation,
    encode_message,
    encode_request,
    source,
)
from turnwright.providers.responses_reply import ResponsesReply
from turnwright.providers.transport import PATIENCE, Timeouts


def responses_api(max_output_tokens: int | None, *, websockets: bool = False) -> Api[ResponsesConversation]:
    """The API, below a base URL; each reply is bounded to so many tokens, or as the server likes.

    With `websockets`, those who carry requests instead of this process get them as messages of one.
    """

    def message(request: ModelRequest, conversation: ResponsesConversation) -> bytes:
        return encode_message(request, conversation, max_output_tokens)

    return Api(
        path=lambda request: "responses",
        begin=ResponsesConversation,
        encode=lambda request, conversation: encode_request(request, conversation, max_output_tokens),
        builder=lambda request, progress: ResponsesReply(source(request.model), progress),
        message=message if websockets else None,
    )


class OpenAIResponses(ApiProvider[ResponsesConversation]):
    """A provider: `POST {base_url}/responses` for each call, `GET {base_url}/models` for the list.

    `bearer_token` goes before `api_key`. `max_output_tokens` bounds each reply, reasoning included. See
    `responses_api` for `websockets`. Raises
    ConfigError for a base URL or a header that can't be.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        bearer_token: str | None = None,
        headers: Mapping[str, str] = {},
        name: str = "openai",
        max_output_tokens: int | None = None,
        websockets: bool = False,
        timeouts: Timeouts = PATIENCE,
    ) -> None:
        endpoint = Endpoint.at(base_url, name=name, token=bearer_token or api_key, headers=headers)
        api = responses_api(max_output_tokens, websockets=websockets)
        super().__init__(endpoint, api, timeouts=timeouts)
