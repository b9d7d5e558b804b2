"""Asks an endpoint that takes GitHub tokens whose token it is."""

from typing import TYPE_CHECKING

from turnwright.errors import ConfigError, InvalidParams, ProviderError
from turnwright.protocol import wire
from turnwright.protocol.identity import Identity
from turnwright.protocol.wire import Wire
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.transport import Timeouts

if TYPE_CHECKING:
    from turnwright.providers.http import HttpClient

PATH = "copilot_internal/user"
LONGEST_BODY = 64 * 1024
PATIENCE = 10.0


class _User(Wire, rename=None):
    login: str | None = None
    copilot_plan: str | None = None


class GitHubUsers:
    """Each token is asked about once; what was refused is asked about again."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._http: HttpClient | None = None
        self._known: dict[str, Identity | None] = {}

    async def find(self, token: str) -> Identity | None:
        """None when the endpoint doesn't say. Raises ConfigError when it refuses the token (status 401)."""
        if token not in self._known:
            try:
                self._known[token] = await self._ask(token)
            except ProviderError:
                return None
        return self._known[token]

    async def aclose(self) -> None:
        """Close all connections."""
        if self._http is not None:
            await self._http.aclose()

    def _opened(self) -> "HttpClient":
        if self._http is None:
            from turnwright.providers.http import HttpClient

            self._http = HttpClient(Timeouts(connect=PATIENCE, read=PATIENCE))
        return self._http

    async def _ask(self, token: str) -> Identity | None:
        endpoint = Endpoint.at(self._url, name="github", token=token)
        async with self._opened().request(endpoint, "GET", PATH) as response:
            body = await response.read(LONGEST_BODY)
            if response.status == 401:
                said = endpoint.mask(body.decode(errors="replace"))
                raise ConfigError(f"Failed to fetch Copilot user info: 401 Unauthorized: {said}")
            if response.status != 200:
                return None
        try:
            user = wire.decode(body, _User)
        except InvalidParams:
            return None
        return Identity(user.login, user.copilot_plan)
