"""What tokens cost, in US dollars and in the AI credits of the wire."""

from typing import Annotated

import msgspec

from turnwright.protocol.messages import Usage

CREDIT = 0.01
"""US dollars for one AI credit, at GitHub's rate."""

NANO = 1e9
"""The wire's nano AI units in one AI credit."""

MILLION = 1_000_000

Dollars = Annotated[float, msgspec.Meta(ge=0)]


class Rates(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """US dollars for a million tokens; those of the cache cost as much as other input unless it says so."""

    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write: Dollars | None = None

    def of(self, usage: Usage) -> float:
        """US dollars for so many tokens; what was read from or written to the cache is part of the input."""
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        other = max(usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens, 0)
        dollars = (
            other * self.input
            + usage.cache_read_tokens * read
            + usage.cache_write_tokens * write
            + usage.output_tokens * self.output
        )
        return dollars / MILLION


class LongContext(Rates, frozen=True, kw_only=True):
    """What a request costs that is longer than `above` tokens of input: all of it, its output too."""

    above: Annotated[int, msgspec.Meta(gt=0)]


class Prices(Rates, frozen=True):
    """What a model costs; for long requests some cost more."""

    long_context: LongContext | None = None

    def cost(self, usage: Usage) -> float:
        """US dollars for one model call."""
        long = self.long_context
        return (long if long and usage.input_tokens > long.above else self).of(usage)


def nano_credits(dollars: float) -> int:
    """What so many US dollars are in the wire's nano AI units."""
    return round(dollars / CREDIT * NANO)
