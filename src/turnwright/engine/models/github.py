"""GitHub's protocol for models: one endpoint, which says of each model by which API it is served."""

from msgspec import structs

from turnwright import __version__
from turnwright.protocol.options import ProviderOptions
from turnwright.providers.base import ModelInfo
from turnwright.providers.loose import an_array

NAME = "github"
USER_AGENT = f"turnwright/{__version__} (Copilot SDK protocol)"
HEADERS = {
    "User-Agent": USER_AGENT,
    "Copilot-Integration-Id": "turnwright",
    "X-GitHub-Api-Version": "2022-11-28",
}


def github_provider(api_url: str, token: str) -> ProviderOptions:
    """The endpoint at `api_url` for the one whose token it is."""
    return ProviderOptions(api_url, name=NAME, bearer_token=token, headers=HEADERS)


def headers(interaction_id: str, client_name: str | None) -> dict[str, str]:
    """The headers that say of a request what it belongs to, and who asks."""
    return {
        "X-Interaction-Id": interaction_id,
        "User-Agent": f"{USER_AGENT} {client_name}" if client_name else USER_AGENT,
    }


def is_github(options: ProviderOptions | None) -> bool:
    """Whether these are options that `github_provider` made."""
    return options is not None and options.name == NAME and options.headers == HEADERS


def spoken(options: ProviderOptions, info: ModelInfo, *, websockets: bool) -> ProviderOptions:
    """The options, with the API and the transport by which a model is served.

    OpenAI's responses are taken where there are no chat completions; over `websockets` where there are any.
    """
    served = an_array((info.raw or {}).get("supported_endpoints"))
    if "/responses" not in served or "/chat/completions" in served:
        return options
    transport = "websockets" if websockets and "ws:/responses" in served else "http"
    return structs.replace(options, wire_api="responses", transport=transport)
