"""Any server that speaks OpenAI's chat completions, streaming or not."""

from collections.abc import Mapping
from functools import partial
from urllib.parse import urlsplit

from turnwright.providers.api import Api, ApiProvider
from turnwright.providers.chat_messages import ChatConversation, encode_request
from turnwright.providers.chat_reply import ChatReply
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.transport import PATIENCE, Timeouts


def chat_api(*, format_is_of_answers: bool) -> Api[ChatConversation]:
    """The API, below a base URL; OpenAI's own servers hold answers alone to a format, others all text."""
    return Api(
        path=lambda request: "chat/completions",
        begin=ChatConversation,
        encode=partial(encode_request, format_is_of_answers=format_is_of_answers),
        builder=lambda request, progress: ChatReply(progress),
    )


class OpenAIChat(ApiProvider[ChatConversation]):
    """A provider: `POST {base_url}/chat/completions` for each call, `GET {base_url}/models` for the list.

    `bearer_token` goes before `api_key`. Raises ConfigError for a base URL or a header that can't be.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        bearer_token: str | None = None,
        headers: Mapping[str, str] = {},
        name: str = "openai",
        timeouts: Timeouts = PATIENCE,
    ) -> None:
        endpoint = Endpoint.at(base_url, name=name, token=bearer_token or api_key, headers=headers)
        api = chat_api(format_is_of_answers=_is_openais(endpoint))
        super().__init__(endpoint, api, timeouts=timeouts)


def _is_openais(endpoint: Endpoint) -> bool:
    host = f".{urlsplit(endpoint.url).hostname}"
    return host.endswith((".openai.com", ".openai.azure.com"))
