"""Where a session is listed: what other clients, other programs and the store's index are told of it."""

import asyncio
from collections.abc import Callable

from turnwright.engine.lifecycle import summary
from turnwright.engine.lifecycle.workspace import WorkspaceFile
from turnwright.engine.session import Session
from turnwright.protocol.envelope import Event
from turnwright.store.base import EventStore

MOMENT = 0.05
"""Seconds for which news may wait for more."""


class Listing:
    """Follows one session. What is told is how it stands, once for all events of a moment."""

    def __init__(self, session: Session, store: EventStore, say: Callable[[summary.Lifecycle], None]) -> None:
        self._session = session
        self._store = store
        self._say = say
        self._workspace = WorkspaceFile(session.folder, session.id)
        self._is_due = False
        self._noting: asyncio.TimerHandle | None = None

    def follow(self, event: Event) -> None:
        """Take one event of the session; clients are told when the moment is over."""
        if event.type == "session.idle":
            self._session.use.touch()
            if self._noting is not None:
                self._noting.cancel()
            self._noting = asyncio.get_running_loop().call_later(MOMENT, self._note_at_rest)
        elif not event.ephemeral:
            self._workspace.follow(self._session.journal.state)
            if not self._is_due:
                self._is_due = True
                asyncio.get_running_loop().call_later(MOMENT, self.tell)

    def tell(self) -> None:
        """Tell what is due, now."""
        if self._is_due:
            self._is_due = False
            self._say(summary.updated(self._session.id, self._session.journal.state))

    def end(self) -> None:
        """Tell what is due, and keep how the session stands, for nobody follows it from here on."""
        self.tell()
        self.drop()
        self._workspace.write(self._session.journal.state)
        self._note()

    def drop(self) -> None:
        """Tell nothing of what is due, and leave the store's index as it is."""
        self._is_due = False
        if self._noting is not None:
            self._noting.cancel()
            self._noting = None

    def _note_at_rest(self) -> None:
        self._noting = None
        if not self._session.is_busy and not self._session.journal.is_asleep:
            self._note()

    def _note(self) -> None:
        journal = self._session.journal
        self._store.note(self._session.id, journal.state, journal.log.size)
