"""Reading the logs of sessions without touching them, also while another process writes them."""

import logging
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from turnwright.engine.lifecycle.summary import SessionMetadata, listed
from turnwright.errors import InvalidParams, SessionNotFound, StoreError
from turnwright.protocol.envelope import Event, parse
from turnwright.store.jsonl import LOG_NAME, JsonlStore
from turnwright.store.load import load_state
from turnwright.store.reading import open_to_read, pieces_of
from turnwright.store.state import State

log = logging.getLogger(__name__)

NAMES_ALL = "`turnwright sessions list` names all"

FEW = 3
"""Sessions that a message names."""


class Archive:
    """The sessions of a home."""

    def __init__(self, home: Path) -> None:
        self.store = JsonlStore(home / "session-state")

    def entries(self) -> Iterator[SessionMetadata]:
        """Every session that was ever prompted, the one used last first."""
        entries = self.store.entries()
        self.store.close()
        yield from (listed(entry) for entry in entries if entry.title)

    def state(self, session_id: str) -> State:
        """A session's state. Raises SessionNotFound or StoreError."""
        with _reading(session_id):
            return load_state(pieces_of(self.store.folder(session_id) / LOG_NAME))

    def events(self, session_id: str) -> Iterator[Event]:
        """A session's events, oldest first; what is no event is passed over. Raises SessionNotFound or
        StoreError.
        """
        with _reading(session_id), open_to_read(self.store.folder(session_id) / LOG_NAME) as file:
            for number, line in enumerate(file, 1):
                try:
                    yield parse(line.rstrip(b"\n"))
                except InvalidParams as error:
                    log.warning("line %d of session %s is no event: %s", number, session_id, error)

    def find(self, start: str) -> str:
        """The id of the one session whose id starts so. Raises SessionNotFound when none or several do."""
        found = self._starting_with(start)
        if start in found:
            return start
        if len(found) > 1:
            raise SessionNotFound(f"{len(found)} sessions start with {start}: {_some(found)}")
        if not found:
            raise SessionNotFound(_missing(start))
        return found[0]

    def whole(self, session_id: str) -> str:
        """The id of a session, when it is that. Raises SessionNotFound that names those that start so."""
        found = self._starting_with(session_id)
        if session_id in found:
            return session_id
        if not found:
            raise SessionNotFound(_missing(session_id))
        starting = "session starts" if len(found) == 1 else "sessions start"
        raise SessionNotFound(
            f"There is no session {session_id}, and the whole id is needed here; "
            f"{len(found)} {starting} so: {_some(found)}"
        )

    def last_in(self, folder: Path) -> str:
        """The session that was used last in a folder. Raises SessionNotFound."""
        place = str(folder.resolve())
        for entry in self.entries():
            if entry.context is not None and entry.context.cwd == place:
                return entry.session_id
        raise SessionNotFound(f"There is no session in {place} to continue")

    def _starting_with(self, start: str) -> list[str]:
        return sorted(found for found in self.store.ids() if start and found.startswith(start))


@contextmanager
def _reading(session_id: str) -> Generator[None]:
    """Say what is wrong with a log that can't be read."""
    try:
        yield
    except FileNotFoundError:
        raise SessionNotFound(f"There is no session {session_id}") from None
    except OSError as error:
        raise StoreError(f"can't read the log of session {session_id}: {error.strerror}") from error


def _missing(session_id: str) -> str:
    reason = f"There is no session {session_id}" if session_id else "The session's id is empty"
    return f"{reason}: {NAMES_ALL}"


def _some(session_ids: Sequence[str]) -> str:
    """The ids, or a few of them and how many more there are."""
    named = ", ".join(session_ids[:FEW])
    more = len(session_ids) - FEW
    return named if more <= 0 else f"{named} and {more} more; {NAMES_ALL}"
