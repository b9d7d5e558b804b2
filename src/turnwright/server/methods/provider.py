"""The providers of a session."""

from collections.abc import Sequence
from typing import Any

import msgspec

from turnwright.engine.provider_registry import described
from turnwright.engine.session import Session
from turnwright.protocol.options import ModelOptions, ProviderOptions
from turnwright.server.methods.base import Methods, SessionParams
from turnwright.server.methods.models import describe

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
    session.add_providers(params.providers, params.models)
    return {"models": [describe(described(model)) for model in params.models]}


def check_named(providers: Sequence[ProviderOptions]) -> None:
    """Refuse what can't be, provider by provider. Raises ConfigError naming the field."""
    from turnwright.providers.open import check_provider

    for index, provider in enumerate(providers):
        check_provider(provider, f"providers[{index}]")
