"""Putting a runtime together from its settings."""

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

from turnwright.engine.models.endpoint import Endpoints
from turnwright.engine.models.endpoints import ConfiguredEndpoints, Defaults
from turnwright.engine.runtime import Runtime
from turnwright.engine.secrets import Secrets
from turnwright.protocol.options import Durability, ProviderOptions
from turnwright.providers.github_users import GitHubUsers
from turnwright.providers.model_facts import ModelFacts
from turnwright.providers.open import open_local, open_provider
from turnwright.server.settings import Settings
from turnwright.store.disk import Disk
from turnwright.store.jsonl import JsonlStore
from turnwright.tools.base import Tool
from turnwright.tools.builtin import machine_tools

OWN_SECRETS = frozenset(["TURNWRIGHT_API_KEY", "COPILOT_GITHUB_TOKEN", "COPILOT_CONNECTION_TOKEN"])
"""Variables that are the runtime's alone."""


@asynccontextmanager
async def started(
    settings: Settings,
    *,
    provider: ProviderOptions | None = None,
    model: str | None = None,
    models: Mapping[str, ModelFacts] | None = None,
    endpoints: Endpoints | None = None,
    durability: Durability = "turn",
    disk: Disk | None = None,
    environment: Mapping[str, str] = os.environ,
    tools: Sequence[Tool] | None = None,
) -> AsyncGenerator[Runtime, None]:
    """A runtime over the home's logs; `provider` and `model` are for sessions that bring none.

    `models` is what the user says of models, by their ids.

    With `endpoints` of the caller's own, nothing else is asked who answers; the logs are kept on `disk`, and
    `tools` take the place of the machine's.
    Tools' processes get `environment` without the runtime's own keys.
    """
    defaults = Defaults(provider, model, settings.api_url, settings.github_token, models or {})
    configured = ConfiguredEndpoints(defaults, open_provider, open_local)
    secrets = Secrets([settings.connection_token, settings.github_token])
    secrets.add_keys_of(provider)
    users = GitHubUsers(settings.users_url) if settings.users_url else None
    runtime = Runtime(
        JsonlStore(settings.home / "session-state", disk),
        endpoints or configured,
        tools=machine_tools() if tools is None else tools,
        home=settings.home,
        environment=without_secrets(environment, settings, provider),
        secrets=secrets,
        identities=users,
        idle_timeout=settings.session_idle_timeout,
        durability=durability,
    )
    try:
        async with runtime:
            yield runtime
    finally:
        await configured.aclose()
        if users is not None:
            await users.aclose()


def without_secrets(
    environment: Mapping[str, str], settings: Settings, provider: ProviderOptions | None
) -> dict[str, str]:
    """`environment` less the runtime's own variables, and less every other one that holds one of its keys.

    A token that was found in the user's environment (GH_TOKEN, say) is the user's, and stays.
    """
    keys = {settings.connection_token}
    if settings.auth_type == "token":
        keys.add(settings.github_token)
    if provider is not None:
        keys |= {provider.api_key, provider.bearer_token}
    keys -= {None, ""}
    return {
        name: value for name, value in environment.items() if name not in OWN_SECRETS and value not in keys
    }
