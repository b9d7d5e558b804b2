"""Any server that speaks Anthropic's messages, streaming or not."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from turnwright.providers.anthropic_messages import MessagesConversation, encode_request, source
from turnwright.providers.anthropic_reply import MessagesReply
from turnwright.providers.api import Api, ApiProvider
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.transport import PATIENCE, Timeouts

VERSION = "2023-06-01"


class Anthropic(ApiProvider[MessagesConversation]):
    """A provider: `POST {base_url}/v1/messages` for each call; a base URL that ends in `/v1` is right too.

    `bearer_token` goes before `api_key`, which is sent as `x-api-key`. `max_output_tokens` bounds each reply,
    thinking included. Raises ConfigError for a base URL or a header that can't be.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        bearer_token: str | None = None,
        headers: Mapping[str, str] = {},
        name: str = "anthropic",
        max_output_tokens: int | None = None,
        timeouts: Timeouts = PATIENCE,
    ) -> None:
        own = {"anthropic-version": VERSION}
        if api_key and api_key.strip() and not bearer_token:
            own["x-api-key"] = api_key.strip()
        endpoint = Endpoint.at(base_url, name=name, token=bearer_token, headers=own).with_headers(headers)
        below = "" if urlsplit(endpoint.url).path.rstrip("/").endswith("/v1") else "v1/"
        api = Api(
            path=lambda request: f"{below}messages",
            begin=MessagesConversation,
            encode=lambda request, conversation: encode_request(request, conversation, max_output_tokens),
            builder=lambda request, progress: MessagesReply(source(request.model), progress),
            models_path=f"{below}models",
        )
        super().__init__(endpoint, api, timeouts=timeouts)
