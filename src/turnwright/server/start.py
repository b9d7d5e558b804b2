"""Putting a runtime together from its settings."""

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from turnwright.engine.endpoints import ConfiguredEndpoints, Defaults
from turnwright.engine.runtime import Runtime
from turnwright.protocol.options import ProviderOptions
from turnwright.providers.open import open_local, open_provider
from turnwright.server.settings import Settings
from turnwright.store.jsonl import JsonlStore
from turnwright.tools.builtin import machine_tools


@asynccontextmanager
async def started(
    settings: Settings,
    *,
    provider: ProviderOptions | None = None,
    model: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> AsyncGenerator[Runtime, None]:
    """A runtime over the home's logs; `provider` and `model` are for sessions that bring none."""
    defaults = Defaults(provider, model, settings.api_url, settings.github_token)
    endpoints = ConfiguredEndpoints(defaults, open_provider, open_local)
    runtime = Runtime(
        JsonlStore(settings.home / "session-state"),
        endpoints,
        tools=machine_tools(),
        home=settings.home,
        environment=environment,
    )
    try:
        async with runtime:
            yield runtime
    finally:
        await endpoints.aclose()
