"""Which model answers in a session, and who serves it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from turnwright.engine.models import routing
from turnwright.engine.models.endpoint import DEFAULT_WINDOW, Endpoint, Endpoints
from turnwright.engine.models.provider_registry import Registry
from turnwright.errors import ConfigError
from turnwright.protocol.options import ModelOptions, ProviderOptions
from turnwright.providers.base import ModelInfo
from turnwright.providers.media_limits import PictureLimits
from turnwright.providers.transport import Route

if TYPE_CHECKING:
    from turnwright.engine.session import Session


class ModelChoice:
    """The model that the session wants, by name; None leaves it to who serves. `settle` finds that one."""

    def __init__(self, s: "Session", endpoints: Endpoints, wanted: str | None) -> None:
        self.wanted = wanted
        self._s = s
        self._endpoints = endpoints
        self._endpoint: Endpoint | None = None
        self._key: object = None

    @property
    def model(self) -> str:
        """The model that answers, or will; empty while nobody knows."""
        return self._endpoint.model if self._endpoint else self.wanted or ""

    @property
    def window(self) -> int:
        """The context window in tokens, as far as it is known yet."""
        return self._endpoint.window if self._endpoint else DEFAULT_WINDOW

    @property
    def vision(self) -> bool:
        """Whether the model sees pictures, as far as it is known yet."""
        return self._endpoint is None or self._endpoint.vision

    @property
    def pictures(self) -> PictureLimits:
        """What a picture must be to be sent to the model, as far as it is known yet."""
        return self._endpoint.pictures if self._endpoint else PictureLimits()

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint in use. Only after `settle`."""
        assert self._endpoint is not None
        return self._endpoint

    async def settle(self) -> None:
        """Find who answers, when it isn't known yet or the choice was changed. Raises ConfigError."""
        if self._endpoint is None or self._key != self._asked():
            self._endpoint = await self._endpoints.find(self._s.options, self.wanted, self._route_to)
            self.wanted = self._endpoint.model
            self._key = self._asked()

    def switch(
        self, model: str, reasoning_effort: str | None = None, capabilities: dict[str, Any] | None = None
    ) -> None:
        """Let another model answer from the next call on; `capabilities` override what is known of it."""
        self.wanted = model
        if capabilities is not None:
            self._s.options.model_capabilities = capabilities
        if reasoning_effort is not None:
            self._s.options.reasoning_effort = reasoning_effort

    async def offers(self, model: str) -> bool:
        """Whether the endpoint in use lists a model of that name, now. Raises ProviderError."""
        route = await self._s.route()
        return any(info.id == model for info in await self.endpoint.provider.models(route))

    async def listed(self) -> list[ModelInfo]:
        """The models that the session can switch to. Raises ConfigError or ProviderError."""
        return await self._endpoints.models(self._s.options, self._route_to)

    async def provider_of(self, model: str | None) -> tuple[ProviderOptions, Route]:
        """Whom a call of that model is sent to, and how. Raises ConfigError, ProviderError."""
        options = self._endpoints.provider(self._s.options, model)
        if options is None:
            raise ConfigError("this session's model is not reached by an endpoint of HTTP")
        return options, await self._route_to(options)

    def add_providers(self, providers: Sequence[ProviderOptions], models: Sequence[ModelOptions]) -> None:
        """Name more providers and models. Raises ConfigError naming the field; nothing has changed then."""
        options = self._s.options
        Registry(options.providers, options.models).add(providers, models)
        self._s.secrets.add_keys_of(*providers)
        options.providers = [*(options.providers or ()), *providers]
        options.models = [*(options.models or ()), *models]

    async def _route_to(self, provider: ProviderOptions) -> Route:
        return await routing.route(self._s, provider)

    def _asked(self) -> object:
        o = self._s.options
        mine = self.wanted, o.model_capabilities
        return *mine, o.provider, o.providers, o.models, o.git_hub_token, o.capi
