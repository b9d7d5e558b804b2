"""A runtime for the program that it is embedded in."""

import os
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from turnwright import config
from turnwright.engine.models.endpoint import Fixed
from turnwright.protocol.options import Durability, ProviderOptions
from turnwright.providers.base import Provider
from turnwright.rpc.transport import Transport
from turnwright.server.serve import serve_transport
from turnwright.server.settings import from_environment
from turnwright.server.start import started

ModelSource = ProviderOptions | Provider
"""An endpoint's options, or a provider of the program's own, which stays the program's to close."""


@asynccontextmanager
async def embedded(
    home: Path | None,
    source: ModelSource | None,
    model: str | None,
    durability: Durability | None,
) -> AsyncGenerator[Callable[[Transport], Coroutine[Any, Any, None]], None]:
    """Start a runtime; what comes out serves one connection until that is closed.

    What isn't given here is as the environment and the user's file have it.
    """
    settings = from_environment(os.environ)
    if home is not None:
        settings.home = home
    configured = config.load(settings.home, flags=config.Choices(durability=durability))
    provider = source if isinstance(source, ProviderOptions) else None
    if provider is None and configured.endpoint is not None:
        provider = configured.endpoint.options
    if model is None and configured.model is not None:
        model = configured.model.value
    own = None if source is None or isinstance(source, ProviderOptions) else source
    endpoints = None if own is None else Fixed(own, model or (await own.models())[0].id)
    async with started(
        settings,
        provider=provider,
        model=model,
        models=configured.models,
        endpoints=endpoints,
        durability=configured.durability.value if configured.durability else "turn",
    ) as runtime:

        async def serve(transport: Transport) -> None:
            await serve_transport(runtime, settings, transport, "embedded")

        yield serve
