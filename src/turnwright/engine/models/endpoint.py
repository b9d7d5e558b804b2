"""Which model answers, and who serves it."""

from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from turnwright.protocol.messages import Usage
from turnwright.protocol.options import ProviderOptions, SessionOptions
from turnwright.protocol.prices import Prices
from turnwright.providers.base import ModelInfo, Provider
from turnwright.providers.media_limits import PictureLimits
from turnwright.providers.transport import DIRECT, Route

DEFAULT_WINDOW = 128_000


class Endpoint(msgspec.Struct, frozen=True):
    """A provider with one of its models; `window` is the context window in tokens.

    `options` are those that the provider was opened with, None for one that was not opened by options.
    `prices` is None where nobody knows them. `documents` tells whether PDFs are taken as they are.
    """

    provider: Provider
    model: str
    wire_model: str
    window: int = DEFAULT_WINDOW
    vision: bool = True
    documents: bool = False
    pictures: PictureLimits = PictureLimits()
    options: ProviderOptions | None = None
    prices: Prices | None = None

    def cost(self, usage: Usage) -> float | None:
        """US dollars for a model call; None where prices aren't known."""
        return self.prices.cost(usage) if self.prices else None


Routing = Callable[[ProviderOptions], Awaitable[Route]]
"""Says how a request to a provider travels. Raises ProviderError when it can't."""


async def direct(options: ProviderOptions) -> Route:
    """Every request is sent from here, as the provider's options say."""
    return DIRECT


class Endpoints(Protocol):
    """Finds the endpoint that a session's options ask for."""

    async def find(self, options: SessionOptions, model: str | None, routing: Routing = direct) -> Endpoint:
        """Raises ConfigError when nothing is configured, ProviderError when it can't be asked."""
        ...

    def provider(self, options: SessionOptions, model: str | None) -> ProviderOptions | None:
        """The options of the provider that `find` takes; None without one. Raises ConfigError."""
        ...

    async def models(self, options: SessionOptions, routing: Routing = direct) -> list[ModelInfo]:
        """The models that a session with these options could use. Raises as `find` does."""
        ...


class Fixed:
    """One provider for every session: the scripted model of tests, or a program's own."""

    def __init__(
        self, provider: Provider, model: str, window: int = DEFAULT_WINDOW, prices: Prices | None = None
    ) -> None:
        self._provider = provider
        self._model = model
        self._window = window
        self._prices = prices

    async def find(self, options: SessionOptions, model: str | None, routing: Routing = direct) -> Endpoint:
        name = model or self._model
        return Endpoint(self._provider, name, name, self._window, prices=self._prices)

    def provider(self, options: SessionOptions, model: str | None) -> ProviderOptions | None:
        return None

    async def models(self, options: SessionOptions, routing: Routing = direct) -> list[ModelInfo]:
        return await self._provider.models()
