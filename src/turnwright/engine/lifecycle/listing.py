"""Where a session is listed: what other clients, other programs and the store's index are told of it."""

import asyncio
from collections.abc import Callable, Iterable

from turnwright.engine.lifecycle import summary
from turnwright.engine.lifecycle.workspace import WorkspaceFile
from turnwright.engine.session import Session
from turnwright.protocol.envelope import Event
from turnwright.store.base import EventStore, Note

MOMENT = 0.05
"""Seconds for which news may wait for more."""
BEHIND = 1.0
"""Seconds by which what lists are made from may be behind: a start and the title after it are one change."""


class Moment:
    """Gathers sessions for so many seconds from the first one on, and then deals with all of them at once."""

    def __init__(self, seconds: float, deal: Callable[[Iterable["Listing"]], None]) -> None:
        self._seconds = seconds
        self._deal = deal
        self._gathered: dict[Listing, None] = {}
        self._is_timed = False

    def add(self, listing: "Listing") -> None:
        """Deal with a session too, once."""
        self._gathered[listing] = None
        if not self._is_timed:
            self._is_timed = True
            asyncio.get_running_loop().call_later(self._seconds, self._end)

    def drop(self, listing: "Listing") -> None:
        """Don't deal with a session."""
        self._gathered.pop(listing, None)

    def _end(self) -> None:
        self._is_timed = False
        gathered, self._gathered = self._gathered, {}
        self._deal(gathered)


class Catalogue:
    """Sessions with news. Lists are made from `workspace.yaml` beside each log, and from the store's index.

    What a crash leaves out of these, the logs have: the index is checked against them, and a session that is
    resumed is put in again.
    """

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self.untold = Moment(MOMENT, self._tell)
        self.changed = Moment(BEHIND, self._put_in)

    def note(self, *notes: Note) -> None:
        """Put sessions into the store's index."""
        if notes:
            self._store.note(notes)

    def _tell(self, listings: Iterable["Listing"]) -> None:
        for listing in listings:
            listing.tell()

    def _put_in(self, listings: Iterable["Listing"]) -> None:
        self.note(*(note for listing in listings if (note := listing.put_in())))


class Listing:
    """Follows one session. What is told is how it stands, once for all events of a moment."""

    def __init__(
        self, session: Session, catalogue: Catalogue, say: Callable[[summary.Lifecycle], None]
    ) -> None:
        self._session = session
        self._catalogue = catalogue
        self._say = say
        self._workspace = WorkspaceFile(session.folder, session.id)
        self._is_due = False

    def follow(self, event: Event) -> None:
        """Take one event of the session; clients are told when the moment is over."""
        if event.type == "session.idle":
            self._session.use.touch()
            self._catalogue.changed.add(self)
        elif not self._is_due and not event.ephemeral:
            self._is_due = True
            self._catalogue.untold.add(self)
            self._catalogue.changed.add(self)

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
        self._catalogue.note(self._note)

    def drop(self) -> None:
        """Tell nothing of what is due, and leave what lists are made from as it is."""
        self._is_due = False
        self._catalogue.changed.drop(self)

    def put_in(self) -> Note | None:
        """Bring the session's own file up to date; what the index is told, once the session is at rest."""
        if self._session.journal.is_asleep:
            return None
        self._workspace.follow(self._session.journal.state)
        return None if self._session.is_busy else self._note

    @property
    def _note(self) -> Note:
        journal = self._session.journal
        return Note(self._session.id, journal.state, journal.log.size)
