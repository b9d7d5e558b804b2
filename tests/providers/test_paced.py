"""Answers that go on, and those that are only kept alive."""

from collections.abc import AsyncGenerator

import pytest

from turnwright.errors import ProviderError
from turnwright.providers.paced import Paced

pytestmark = pytest.mark.anyio


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def coming(clock: Clock, *gaps: float) -> AsyncGenerator[bytes]:
    """Pieces, each so many seconds after the one before."""
    for gap in gaps:
        clock.now += gap
        yield b"."


async def test_an_answer_that_goes_on_may_take_as_long_as_it_likes() -> None:
    clock = Clock()
    pieces = Paced(coming(clock, *[9] * 100), 10, lambda: ProviderError("stalled"), clock)
    async for _ in pieces:
        pieces.advance()
    assert clock.now == 900


async def test_an_answer_that_is_only_kept_alive_is_given_up() -> None:
    clock = Clock()
    pieces = Paced(coming(clock, 4, 4, 4, 4), 10, lambda: ProviderError("stalled"), clock)
    assert await anext(pieces) == b"."
    pieces.advance()
    assert [await anext(pieces), await anext(pieces)] == [b".", b"."]
    with pytest.raises(ProviderError, match="stalled"):
        await anext(pieces)
    assert clock.now == 16
