"""Sessions that nobody uses let go of what they hold, until a method names them again."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import anyio

if TYPE_CHECKING:
    from turnwright.engine.session import Session

FINEST = 0.01
"""The share of the timeout by which a session may be late to be unloaded."""


class Use:
    """Who uses a session: requests in hand, and when the last one, or the last run, ended.

    As a context it is one request, until that is answered.
    `last` is on the clock of the event loop, in seconds.
    """

    def __init__(self) -> None:
        self.last = _now()
        self._requests = 0

    def touch(self) -> None:
        """It was used just now."""
        self.last = _now()

    def __enter__(self) -> None:
        self._requests += 1

    def __exit__(self, *error: object) -> None:
        self._requests -= 1
        self.touch()

    @property
    def is_requested(self) -> bool:
        return self._requests > 0


def _now() -> float:
    return asyncio.get_running_loop().time()


class PutToSleep(Protocol):
    """Makes a session let go of its log and of what was read from it. Never raises."""

    def __call__(self, session: "Session", /) -> None: ...


def is_in_use(s: "Session") -> bool:
    """Whether something goes on in a session, or waits there: a run, a request, a question, a message."""
    return (
        s.use.is_requested
        or s.is_busy
        or not s.inbox.empty
        or s.compaction.is_running
        or s.questions.are_open
    )


async def unload_unused(sessions: Mapping[str, "Session"], timeout: float, sleep: PutToSleep) -> None:
    """Put each session to sleep that nobody has used for `timeout` seconds; ends when it is cancelled."""
    while True:
        now = _now()
        awake = [session for session in sessions.values() if not session.journal.is_asleep]
        wait = timeout
        for session in awake:
            left = session.use.last + timeout - now
            if is_in_use(session):
                continue  # the end of that use is the start of its time
            if left > 0:
                wait = min(wait, left)
            else:
                sleep(session)
        await anyio.sleep(max(wait, timeout * FINEST))
