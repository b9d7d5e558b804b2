"""Which model answers, and who serves it."""

from typing import Protocol

import msgspec

from turnwright.protocol.options import SessionOptions
from turnwright.providers.base import ModelInfo, Provider

DEFAULT_WINDOW = 128_000


class Endpoint(msgspec.Struct, frozen=True):
    """A provider with one of its models; `window` is the context window in tokens."""

    provider: Provider
    model: str
    wire_model: str
    window: int = DEFAULT_WINDOW
    vision: bool = True


class Endpoints(Protocol):
    """Finds the endpoint that a session's options ask for."""

    async def find(self, options: SessionOptions, model: str | None) -> Endpoint:
        """Raises ConfigError when nothing is configured, ProviderError when it can't be asked."""
        ...

    async def models(self, options: SessionOptions) -> list[ModelInfo]:
        """The models that a session with these options could use. Raises as `find` does."""
        ...


class Fixed:
    """One provider for every session: the scripted model of tests, or a program's own."""

    def __init__(self, provider: Provider, model: str) -> None:
        self._provider = provider
        self._model = model

    async def find(self, options: SessionOptions, model: str | None) -> Endpoint:
        name = model or self._model
        return Endpoint(self._provider, name, name)

    async def models(self, options: SessionOptions) -> list[ModelInfo]:
        return await self._provider.models()
