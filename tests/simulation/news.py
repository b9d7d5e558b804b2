"""Waiting for something to happen, for any number of tasks, again and again."""

import anyio


class News:
    """`wait` returns at the next `tell`; telling costs nothing while nobody waits."""

    def __init__(self) -> None:
        self._event: anyio.Event | None = None

    async def wait(self) -> None:
        """Wait for what comes next."""
        if self._event is None:
            self._event = anyio.Event()
        await self._event.wait()

    def tell(self) -> None:
        """Wake all that wait."""
        if self._event is not None:
            event, self._event = self._event, None
            event.set()
