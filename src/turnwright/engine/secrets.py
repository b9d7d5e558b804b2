"""Values that must not reach the log or the model, whatever tool comes upon them."""

import re
from collections.abc import Iterable

import msgspec

from turnwright.protocol.options import ProviderOptions
from turnwright.tools.base import ToolResult
from turnwright.tools.masking import MASK

_SECRET_HEADER = re.compile("auth|key|token|secret|cookie", re.IGNORECASE)
SHORTEST = 8


class Secrets:
    """Known secret values; those shorter than 8 characters are left alone: they would mask common words."""

    def __init__(self, values: Iterable[str | None] = ()) -> None:
        self._values: set[str] = set()
        self.add(*values)

    def add(self, *values: str | None) -> None:
        """Take in more values; None and short ones are passed over."""
        self._values.update(value for value in values if value and len(value) >= SHORTEST)

    def add_keys_of(self, *providers: ProviderOptions | None) -> None:
        """Take in the keys that endpoints are reached with, those in their headers included."""
        for provider in filter(None, providers):
            self.add(provider.api_key, provider.bearer_token)
            self.add(*(v for name, v in (provider.headers or {}).items() if _SECRET_HEADER.search(name)))

    @property
    def values(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(self._values)

    def mask(self, text: str) -> str:
        """The text with each known value replaced."""
        for value in self._values:
            if value in text:
                text = text.replace(value, MASK)
        return text

    def mask_result(self, result: ToolResult) -> ToolResult:
        """A tool's result with each known value replaced."""
        if not self._values:
            return result
        masked = {
            name: self.mask(text)
            for name in ("text", "detail", "error")
            if (text := getattr(result, name)) is not None
        }
        return msgspec.structs.replace(result, **masked)
