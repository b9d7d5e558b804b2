"""The providers of a session."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from turnwright.engine.models.provider_registry import described
from turnwright.engine.session import Session
from turnwright.errors import ConfigError
from turnwright.protocol.options import ModelOptions, ProviderOptions
from turnwright.server.methods.base import Methods, SessionParams
from turnwright.server.methods.models import describe

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table


class AddParams(SessionParams):
    """Named providers, and models of these or of those that are there already."""

    providers: list[ProviderOptions] = msgspec.field(default_factory=list[ProviderOptions])
    models: list[ModelOptions] = msgspec.field(default_factory=list[ModelOptions])


@methods.session("session.provider.add", AddParams)
async def add(session: Session, params: AddParams) -> dict[str, Any]:
    """Name more providers and models; the answer lists the models, as `session.model.switchTo` takes them."""
    check_named(params.providers)
    session.choice.add_providers(params.providers, params.models)
    return {"models": [describe(described(model)) for model in params.models]}


class EndpointParams(SessionParams):
    """Of a model, by default the one that the session uses."""

    model_id: str | None = None


@methods.runtime("session.provider.getEndpoint", EndpointParams)
async def endpoint(connection: "Connection", params: EndpointParams) -> dict[str, Any]:
    """The endpoint of a model, or of the session's next model call, with its key: where that is allowed."""
    if not connection.settings.shows_endpoints:
        raise ConfigError("the runtime shows keys only with COPILOT_ALLOW_GET_PROVIDER_ENDPOINT=true")
    choice = connection.runtime.find(params.session_id).choice
    options, route = await choice.provider_of(params.model_id or choice.wanted)
    headers = {**(options.headers or {}), **route.headers}
    _, _, fresh = headers.get("Authorization", "").partition(" ")
    key = fresh or options.bearer_token or options.api_key
    if key:
        headers |= _credential(options, key, is_bearer=bool(fresh or options.bearer_token))
    found: dict[str, Any] = {"type": options.type, "baseUrl": options.base_url, "headers": headers}
    if options.type != "anthropic":
        found["wireApi"] = options.wire_api
    found["transport"] = options.transport
    return {**found, "apiKey": key} if key else found


def _credential(options: ProviderOptions, key: str, *, is_bearer: bool) -> dict[str, str]:
    """The header in which a provider of this type takes its key."""
    match options.type:
        case "anthropic" if not is_bearer:
            return {"x-api-key": key}
        case "azure" if not is_bearer:
            return {"api-key": key}
        case _:
            return {"Authorization": f"Bearer {key}"}


def check_named(providers: Sequence[ProviderOptions]) -> None:
    """Refuse what can't be, provider by provider. Raises ConfigError naming the field."""
    from turnwright.providers.open import check_provider

    for index, provider in enumerate(providers):
        check_provider(provider, f"providers[{index}]")
