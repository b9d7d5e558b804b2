"""What a store of events must do."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from turnwright.errors import InvalidParams
from turnwright.store.checksums import Altered
from turnwright.store.entry import Entry
from turnwright.store.state import State

_SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


def is_session_id(text: str) -> bool:
    """Whether a text may be a session's id, and a folder's name."""
    return _SESSION_ID.fullmatch(text) is not None


def check_session_id(session_id: str) -> str:
    """Return the id. Raises InvalidParams unless it is 1 to 128 ASCII letters, digits, '-' and '_'."""
    if not is_session_id(session_id):
        raise InvalidParams("sessionId: must be 1 to 128 letters, digits, '-' or '_'")
    return session_id


class EventLog(Protocol):
    """The log of one session: an append-only sequence of lines, each the JSON of one event."""

    @property
    def size(self) -> int:
        """Bytes in the log."""
        ...

    def hold(self, *, briefly: bool = False) -> bool:
        """Keep others from writing until `release`; whether the log is another than when we last knew it.

        `briefly`, for a moment in which nobody waits, leaves no mark for those who know no locks. Raises
        SessionInUse when someone else holds it, and StoreError when that can't be told; then nobody holds it.
        Holding it twice is holding it once.
        """
        ...

    def release(self) -> None:
        """Let others write."""
        ...

    @property
    def is_cut(self) -> bool:
        """Whether another program took away some of its end, as `hold` has found. Logs aren't written so."""
        ...

    def look(self) -> str | None:
        """What another program did to the log since it was held, in a sentence, once that was made good.

        Constant work, for each event. Only while held. Raises StoreError when the log lost some of its end:
        whoever holds it next finds what is left.
        """
        ...

    def append(self, line: bytes) -> None:
        """Add one event's JSON, all of it or nothing. Quick. Only while held. Raises StoreError."""
        ...

    def begin_sync(self) -> Callable[[], None]:
        """Begin to bring all that was appended to the disk.

        What comes back, once called, returns when it would survive a power loss. It may block, for any thread
        to do it, and raises StoreError. Raises StoreError when the log is closed.
        """
        ...

    def begin_naming(self) -> Callable[[], None]:
        """Begin to bring to the disk what the log is found by; else the next sync takes care of that.

        What comes back is as that of `begin_sync`.
        """
        ...

    def read(self, start: int = 0) -> Iterator[bytes]:
        """Yield the lines from a byte on, which has to be a line's first, oldest first, without newlines."""
        ...

    def pieces(self, start: int = 0) -> Iterator[list[bytes]]:
        """Yield the same, many lines at once, with their newlines: it is quicker."""
        ...

    def last(self, beginning: bytes, before: int) -> int | None:
        """The byte with which the last line begins that begins so, of those before a byte; not the first."""
        ...

    def blocks(self) -> Iterator[bytes]:
        """Yield the same, with many lines in one piece of bytes."""
        ...

    def verify(self, start: int = 0) -> Altered | None:
        """Compare the log, from about a byte on, with the sums that were kept of it; where it was altered.

        Only while held.
        """
        ...

    @property
    def is_ended(self) -> bool:
        """Whether the last line has its end: another would stand on a line of its own."""
        ...

    def rewrite(self, lines: Iterable[bytes]) -> None:
        """Replace the whole log at once. Raises StoreError, and then the old one stands."""
        ...

    def set_aside(self, junk: Iterable[bytes]) -> None:
        """Keep what is no event, out of the log's way. Raises StoreError."""
        ...

    def end_at(self, size: int) -> None:
        """Drop what stands behind so many bytes, and end the line there. Raises StoreError."""
        ...

    def close(self) -> None:
        """Let go of the log; it stays."""
        ...


class Note(NamedTuple):
    """What a session's log says, and how long the log is that says it."""

    session_id: str
    state: State
    size: int


class EventStore(Protocol):
    """Where sessions' logs are kept. Synchronous: each call is quick except where it says otherwise."""

    def create(self, session_id: str) -> EventLog:
        """Start an empty log. Raises StoreError if there is one already that holds an event, and SessionInUse
        when somebody else is just starting it.
        """
        ...

    def open(self, session_id: str) -> EventLog:
        """Open a log to read and append. Raises SessionNotFound."""
        ...

    def ids(self) -> list[str]:
        """The sessions that have a log, the one used last first."""
        ...

    def entries(self) -> list[Entry]:
        """What a list tells of every session that can be read, the one used last first."""
        ...

    def entry(self, session_id: str) -> Entry:
        """What a list tells of one session. Raises SessionNotFound, or StoreError when it can't be read."""
        ...

    def note(self, notes: Iterable[Note]) -> None:
        """Spare lists the reading of logs that are as long as this, and say this."""
        ...

    def delete(self, session_id: str) -> None:
        """Remove a session with everything of its own. Raises SessionNotFound, SessionInUse."""
        ...

    def discard(self, session_id: str, log: EventLog) -> None:
        """Remove a session that could not be begun, whose log is in our hands. Works on a full disk too."""
        ...

    def close(self) -> None:
        """Let go of what is kept open between calls; the store can be used again."""
        ...

    def folder(self, session_id: str) -> Path:
        """The session's own folder, for files that belong to it; may not exist yet."""
        ...
