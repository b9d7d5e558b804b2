"""From a session's options to the endpoint that answers: the app's own, the user's, or GitHub's protocol."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from turnwright.engine.models.endpoint import DEFAULT_WINDOW, Endpoint, Routing, direct
from turnwright.engine.models.github import github_provider, is_github, serves_responses_alone
from turnwright.engine.models.provider_registry import Registry, Served, described
from turnwright.errors import ConfigError, ProviderError
from turnwright.protocol import wire
from turnwright.protocol.options import ProviderOptions, SessionOptions
from turnwright.protocol.wire import Wire
from turnwright.providers.base import ModelInfo, Provider

NOTHING_CONFIGURED = (
    "No model is configured. Set TURNWRIGHT_BASE_URL, TURNWRIGHT_MODEL and, if it wants one, "
    "TURNWRIGHT_API_KEY,\nor put them into the file that `turnwright doctor` names,\n"
    "or use the local model: `pip install 'turnwright[local]'`, `turnwright models pull`, `--model local`."
)
LOCAL = "local"


class Defaults(msgspec.Struct, frozen=True):
    """What holds for sessions that don't bring an endpoint; `github_token` goes to `api_url` alone."""

    provider: ProviderOptions | None = None
    model: str | None = None
    api_url: str | None = None
    github_token: str | None = None


Opener = Callable[[ProviderOptions], Provider]


class _Supports(Wire):
    vision: bool | None = None


class _Capabilities(Wire):
    supports: _Supports | None = None


class ConfiguredEndpoints:
    """Opens each provider once and shares it between sessions."""

    def __init__(self, defaults: Defaults, opener: Opener, local: Callable[[], Provider]) -> None:
        self._defaults = defaults
        self._open = opener
        self._open_local = local
        self._providers: dict[bytes, Provider] = {}
        self._models: dict[bytes, list[ModelInfo]] = {}

    async def find(self, options: SessionOptions, model: str | None, routing: Routing = direct) -> Endpoint:
        """Raises ConfigError when nothing is configured, ProviderError when it can't be asked."""
        wanted = model or options.model
        registry = Registry(options.providers, options.models)
        if served := registry.find(wanted):
            return self._named(options, served)
        chosen = options.provider or self._github(options)
        if chosen is None and (wanted or self._defaults.model) == LOCAL:
            provider = self._providers.setdefault(b"local", self._open_local())
            return Endpoint(provider, LOCAL, LOCAL, window=8192, vision=False)
        chosen = chosen or self._defaults.provider
        if chosen is None and wanted is None and (served := registry.find(registry.first)):
            return self._named(options, served)
        if chosen is None:
            raise ConfigError(NOTHING_CONFIGURED)
        return await self._of(chosen, options, wanted, routing)

    def provider(self, options: SessionOptions, model: str | None) -> ProviderOptions | None:
        """The options of the provider that `find` takes; None without one. Raises ConfigError."""
        registry = Registry(options.providers, options.models)
        if served := registry.find(model or options.model):
            return served.provider
        chosen = options.provider or self._github(options) or self._defaults.provider
        first = None if chosen else registry.find(registry.first)
        return first.provider if first else chosen

    async def aclose(self) -> None:
        """Close every provider."""
        for provider in self._providers.values():
            await provider.aclose()
        self._providers.clear()

    async def models(self, options: SessionOptions, routing: Routing = direct) -> list[ModelInfo]:
        """The models that a session with these options could use. Raises ConfigError."""
        named = Registry(options.providers, options.models).listed()
        chosen = options.provider or self._github(options) or self._defaults.provider
        if chosen is None and not named:
            raise ConfigError(NOTHING_CONFIGURED)
        return [*(await self._known(chosen, routing) if chosen else ()), *named]

    async def _of(
        self, chosen: ProviderOptions, options: SessionOptions, wanted: str | None, routing: Routing
    ) -> Endpoint:
        default = None if options.provider or self._github(options) else self._defaults.model
        name = wanted or chosen.model_id or default
        asked = name is None or is_github(chosen)
        known = await self._known(chosen, routing) if asked else []
        if name is None:
            name = _only(known, chosen)
        info = next((found for found in known if found.id == name), None)
        if info is not None and is_github(chosen) and serves_responses_alone(info):
            chosen = msgspec.structs.replace(chosen, wire_api="responses")
        return Endpoint(
            self._opened(chosen),
            name,
            chosen.wire_model or chosen.model_id or name,
            window=_window(chosen, info),
            vision=_vision(options.model_capabilities, info),
            options=chosen,
        )

    def _named(self, options: SessionOptions, served: Served) -> Endpoint:
        model, info = served.model, described(served.model)
        return Endpoint(
            self._opened(served.provider),
            model.selection,
            model.wire_model or model.id,
            window=model.max_prompt_tokens or info.context_window or DEFAULT_WINDOW,
            vision=_vision(options.model_capabilities or model.capabilities, info),
            options=served.provider,
        )

    def _github(self, options: SessionOptions) -> ProviderOptions | None:
        token = options.git_hub_token or self._defaults.github_token
        if token is None or self._defaults.api_url is None:
            return None
        return github_provider(self._defaults.api_url, token)

    def _opened(self, chosen: ProviderOptions) -> Provider:
        key = wire.encode(chosen)
        if key not in self._providers:
            self._providers[key] = self._open(chosen)
        return self._providers[key]

    async def _known(self, chosen: ProviderOptions, routing: Routing) -> list[ModelInfo]:
        """What an endpoint lists: asked once, but anew where a client carries the request, as it may say."""
        route = await routing(chosen)
        if route.transport is not None:
            return await self._opened(chosen).models(route)
        key = wire.encode(chosen)
        if key not in self._models:
            self._models[key] = await self._opened(chosen).models(route)
        return self._models[key]


def _only(known: list[ModelInfo], chosen: ProviderOptions) -> str:
    if not known:
        raise ProviderError(f"{chosen.base_url} offers no models", kind="query", sent=False)
    return next((info.id for info in known if info.id != "auto"), known[0].id)


def _window(chosen: ProviderOptions, info: ModelInfo | None) -> int:
    known = info.context_window if info else None
    return chosen.max_prompt_tokens or chosen.max_context_window_tokens or known or DEFAULT_WINDOW


def _vision(capabilities: Mapping[str, Any] | None, info: ModelInfo | None) -> bool:
    """The app's word first, then the endpoint's; a model that nobody knows is taken to see."""
    if capabilities is not None:
        asked = wire.convert(capabilities, _Capabilities)
        if asked.supports is not None and asked.supports.vision is not None:
            return asked.supports.vision
    return info.vision if info is not None else True
