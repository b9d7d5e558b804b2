"""OpenAI's models on Azure: the same APIs, at other addresses and with the key in another header."""

from collections.abc import Mapping
from urllib.parse import parse_qs, quote, urlencode, urlsplit, urlunsplit

from msgspec.structs import replace

from turnwright.providers.api import Api, ApiProvider
from turnwright.providers.base import ModelRequest
from turnwright.providers.conversation import C
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.transport import PATIENCE, Timeouts


class AzureOpenAI(ApiProvider[C]):
    """A provider for a resource, `https://NAME.openai.azure.com`, whose deployments are the models.

    Without `api_version` requests go to the `openai/v1` route, which has none; with one, they go below
    `openai`, and where the API is served `by_deployment` to the deployment's own route. A base URL that names
    the route is right too. `bearer_token` goes before `api_key`, which is sent as `api-key`. Raises
    ConfigError for a base URL or a header that can't be.
    """

    def __init__(
        self,
        base_url: str,
        api: Api[C],
        *,
        by_deployment: bool,
        api_version: str | None = None,
        api_key: str | None = None,
        bearer_token: str | None = None,
        headers: Mapping[str, str] = {},
        name: str = "azure",
        timeouts: Timeouts = PATIENCE,
    ) -> None:
        own = {"api-key": api_key.strip()} if api_key and api_key.strip() and not bearer_token else {}
        given = Endpoint.at(base_url, name=name, token=bearer_token, headers=own).with_headers(headers)
        version = api_version or next(iter(parse_qs(urlsplit(given.url).query).get("api-version", [])), None)
        route = "openai" if version else "openai/v1"

        def path(request: ModelRequest) -> str:
            deployed = f"/deployments/{quote(request.model, safe='')}" if version and by_deployment else ""
            return f"{route}{deployed}/{api.path(request)}"

        super().__init__(
            replace(given, url=_resource(given.url, version)),
            replace(api, path=path, models_path=f"{route}/{api.models_path}"),
            timeouts=timeouts,
        )


def _resource(url: str, version: str | None) -> str:
    """Return the URL of the resource alone, with the version that every request to it names."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix("/v1").removesuffix("/openai")
    query = urlencode({"api-version": version}) if version else ""
    return urlunsplit(parts._replace(path=path, query=query))
