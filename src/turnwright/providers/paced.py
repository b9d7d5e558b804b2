"""An answer that is kept alive without going on: given up after a while."""

import time
from collections.abc import AsyncIterator, Callable
from typing import Self

from turnwright.errors import ProviderError


class Paced:
    """The pieces of an answer as they come, while `advance` is called now and then: every `seconds` at least.

    Comments and pings, which keep a connection open, may come for ever. Silence is for those to notice who
    carry the answer: here the time is looked at when a piece comes. Raises what `stalled` makes.
    """

    def __init__(
        self,
        pieces: AsyncIterator[bytes],
        seconds: float,
        stalled: Callable[[], ProviderError],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pieces = pieces
        self._seconds = seconds
        self._stalled = stalled
        self._clock = clock
        self._since = clock()

    def advance(self) -> None:
        """Note that there was a part of the reply in the last piece."""
        self._since = self._clock()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        piece = await anext(self._pieces)
        if self._clock() - self._since > self._seconds:
            raise self._stalled()
        return piece
