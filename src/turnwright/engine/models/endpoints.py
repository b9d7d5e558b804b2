"""From a session's options to the endpoint that answers: the app's own, the user's, or GitHub's protocol."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from turnwright.engine.models.endpoint import DEFAULT_WINDOW, Endpoint, Routing, direct
from turnwright.engine.models.github import github_provider, is_github, spoken
from turnwright.engine.models.provider_registry import Registry, Served
from turnwright.errors import ConfigError, ProviderError
from turnwright.protocol import wire
from turnwright.protocol.options import ProviderOptions, SessionOptions
from turnwright.protocol.wire import Wire
from turnwright.providers.base import ModelInfo, Provider
from turnwright.providers.media_limits import PictureLimits, reads_documents
from turnwright.providers.model_facts import NOTHING, ModelFacts, facts_of

NOTHING_CONFIGURED = (
    "No model is configured. Set TURNWRIGHT_BASE_URL, TURNWRIGHT_MODEL and, if it wants one, "
    "TURNWRIGHT_API_KEY,\nor put them into the file that `turnwright doctor` names,\n"
    "or use the local model: `pip install 'turnwright[local]'`, `turnwright models pull`, `--model local`."
)
LOCAL = "local"


class Defaults(msgspec.Struct, frozen=True):
    """What holds for sessions that don't bring an endpoint; `github_token` goes to `api_url` alone.

    `models` is what the user says of models, whoever serves them.
    """

    provider: ProviderOptions | None = None
    model: str | None = None
    api_url: str | None = None
    github_token: str | None = None
    models: Mapping[str, ModelFacts] = {}


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
        listed = await self._known(chosen, routing) if chosen else []
        return [*(self._completed(info, chosen) for info in listed if chosen), *named]

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
        if info is not None and is_github(chosen):
            websockets = options.capi is None or options.capi.enable_web_socket_responses is not False
            chosen = spoken(chosen, info, websockets=websockets)
        facts = self._facts(chosen.model_id or name, name, chosen, info)
        chosen = self._bounded(chosen, name)
        return Endpoint(
            self._opened(chosen),
            name,
            chosen.wire_model or chosen.model_id or name,
            window=chosen.max_prompt_tokens
            or chosen.max_context_window_tokens
            or facts.context_window
            or DEFAULT_WINDOW,
            vision=_vision(options.model_capabilities, facts),
            documents=reads_documents(chosen),
            pictures=_pictures(options.model_capabilities, info),
            options=chosen,
            prices=chosen.prices or facts.prices,
        )

    def _named(self, options: SessionOptions, served: Served) -> Endpoint:
        model = served.model
        wire_model = model.wire_model or model.id
        facts = self._facts(model.model_id or wire_model, model.selection, served.provider, None)
        provider = self._bounded(served.provider, model.selection)
        return Endpoint(
            self._opened(provider),
            model.selection,
            wire_model,
            window=model.max_prompt_tokens
            or model.max_context_window_tokens
            or facts.context_window
            or DEFAULT_WINDOW,
            vision=_vision(options.model_capabilities or model.capabilities, facts),
            documents=reads_documents(provider),
            pictures=_pictures(options.model_capabilities or model.capabilities, None),
            options=provider,
            prices=model.prices or provider.prices or facts.prices,
        )

    def _facts(
        self, known_as: str, name: str, provider: ProviderOptions, info: ModelInfo | None
    ) -> ModelFacts:
        user = self._defaults.models.get(name, NOTHING)
        return facts_of(known_as, provider.base_url, user=user, listed=info)

    def _completed(self, info: ModelInfo, provider: ProviderOptions) -> ModelInfo:
        """An entry of the endpoint's list, with what it doesn't say and what the user says otherwise."""
        facts = self._facts(info.id, info.id, provider, info)
        return msgspec.structs.replace(
            info,
            context_window=facts.context_window,
            output_limit=facts.output_limit,
            vision=True if facts.vision is None else facts.vision,
            prices=provider.prices or facts.prices,
        )

    def _bounded(self, provider: ProviderOptions, name: str) -> ProviderOptions:
        """The provider, with replies as long as the user says where the app doesn't."""
        user = self._defaults.models.get(name, NOTHING)
        if provider.max_output_tokens is not None or user.output_limit is None:
            return provider
        return msgspec.structs.replace(provider, max_output_tokens=user.output_limit)

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
        if route.carrier is not None:
            return await self._opened(chosen).models(route)
        key = wire.encode(chosen)
        if key not in self._models:
            self._models[key] = await self._opened(chosen).models(route)
        return self._models[key]


def _only(known: list[ModelInfo], chosen: ProviderOptions) -> str:
    if not known:
        raise ProviderError(f"{chosen.base_url} offers no models", kind="query", sent=False)
    return next((info.id for info in known if info.id != "auto"), known[0].id)


def _pictures(capabilities: Mapping[str, Any] | None, info: ModelInfo | None) -> PictureLimits:
    """What pictures may be: as every API takes them, narrowed by the app's word and the endpoint's list."""
    listed = info.raw.get("capabilities") if info and info.raw else None
    return PictureLimits().narrowed(listed).narrowed(capabilities)


def _vision(capabilities: Mapping[str, Any] | None, facts: ModelFacts) -> bool:
    """The app's word first, then what is known; a model that nobody knows is taken to see."""
    if capabilities is not None:
        asked = wire.convert(capabilities, _Capabilities)
        if asked.supports is not None and asked.supports.vision is not None:
            return asked.supports.vision
    return True if facts.vision is None else facts.vision
