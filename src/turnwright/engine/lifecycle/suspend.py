"""Putting a session to rest: nothing runs and nothing begins until a client sends something again."""

from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from turnwright.protocol.envelope import Event

if TYPE_CHECKING:
    from turnwright.engine.session import Session


async def suspend(s: "Session") -> None:
    """Stop the run in hand, wait for its end, and let what is queued wait; then the log is on the disk."""
    rests = anyio.Event()

    def hear(event: Event) -> None:
        if event.type == "session.idle":
            rests.set()

    s.inbox.hold()
    s.journal.subscribers.append(hear)
    try:
        s.abort("suspended")
        if s.run_scope is not None:
            await rests.wait()
    finally:
        s.journal.subscribers.remove(hear)
    sync = s.journal.log.begin_sync()
    with anyio.CancelScope(shield=True):  # one that is never carried out would keep its file open
        await anyio.to_thread.run_sync(sync)
