"""What waits to be sent: one queue for each connection, written in whole batches."""

import asyncio

import anyio

from turnwright.rpc.transport import Transport

OUTBOX_LIMIT = 64 * 1024 * 1024
"""How much may wait for a slow reader, in bytes."""


class Outbox:
    """A queue of encoded messages in front of a transport; what is put at one moment goes out in one write.

    A moment is a round of the event loop and the one after it, in which those go on who were woken by the
    first: each write wakes the other side, which costs both more than a round.
    """

    def __init__(self, transport: Transport, limit: int = OUTBOX_LIMIT) -> None:
        self._transport = transport
        self._limit = limit
        self._queue: list[bytes] = []
        self._size = 0  # of the queue and of the batch that is being written, in bytes
        self._woken: asyncio.Future[None] | None = None
        self._finishing = False
        self._writing = anyio.CancelScope(shield=True)

    def put(self, message: bytes) -> bool:
        """Queue `message`; return False, and leave it, when it must not wait behind so much else.

        An empty outbox takes a message of any size.
        """
        size = self._size + len(message)
        if size > self._limit and self._size:
            return False
        self._size = size
        self._queue.append(message)
        if self._woken is not None:
            self._wake()
        return True

    async def run(self) -> None:
        """Send until `finish`, `abandon` or a broken transport; being cancelled from outside is no reason."""
        with self._writing:
            try:
                while self._queue or not self._finishing:
                    if self._queue:
                        batch, self._queue = self._queue, []
                        await self._transport.send(batch)
                        self._size -= sum(map(len, batch))
                    else:
                        self._woken = asyncio.get_running_loop().create_future()
                        await self._woken
                        await asyncio.sleep(0)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return

    def finish(self, seconds: float) -> None:
        """Let `run` end when the queue is empty, and at the latest after `seconds`."""
        self._finishing = True
        self._writing.deadline = anyio.current_time() + seconds
        self._wake()

    def abandon(self) -> None:
        """Let `run` end now; what waits is lost."""
        self._writing.cancel()

    def _wake(self) -> None:
        woken, self._woken = self._woken, None
        if woken is not None and not woken.done():
            woken.set_result(None)
