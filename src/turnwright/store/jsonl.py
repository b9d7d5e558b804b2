"""Logs as files: <root>/<sessionId>/events.jsonl, with an index beside the root."""

import logging
import os
import shutil
from collections.abc import Container, Iterable
from pathlib import Path
from typing import NamedTuple

from turnwright.errors import SessionInUse, SessionNotFound, StoreError
from turnwright.store.base import EventLog, Note, check_session_id, is_session_id
from turnwright.store.begun import holds_an_event
from turnwright.store.disk import Disk
from turnwright.store.entry import Entry
from turnwright.store.folders import Folders
from turnwright.store.index import Row, SessionIndex
from turnwright.store.jsonl_log import LOG_NAME, JsonlLog
from turnwright.store.load import load_state
from turnwright.store.own_marks import OwnMarks
from turnwright.store.reading import pieces_of

__all__ = ["LOG_NAME", "JsonlLog", "JsonlStore"]

log = logging.getLogger(__name__)


class _Found(NamedTuple):
    """A log in the folder, and when it was written last."""

    mtime_ns: int
    session_id: str
    size: int


class JsonlStore:
    """A folder of sessions, each with its log."""

    def __init__(self, root: Path, disk: Disk | None = None) -> None:
        self.root = root
        self._disk = disk or Disk()
        self._folders = Folders()
        self._marks = OwnMarks(root.parent / "turnwright" / "holders")
        self._index = SessionIndex(root.parent / "turnwright" / "index.sqlite")

    def create(self, session_id: str) -> JsonlLog:
        folder = self.folder(session_id)
        path = folder / LOG_NAME
        try:
            self._disk.make_folder(folder)
            return JsonlLog(path, self._disk, new=True, folders=self._folders, marks=self._marks)
        except FileExistsError:
            return self._begin_again(session_id)
        except OSError as error:
            raise StoreError(f"can't make the session's log {path}: {error.strerror}") from error

    def open(self, session_id: str) -> JsonlLog:
        path = self.folder(session_id) / LOG_NAME
        try:
            return JsonlLog(path, self._disk, new=False, folders=self._folders, marks=self._marks)
        except FileNotFoundError:
            raise SessionNotFound(f"Session not found: {session_id}") from None
        except OSError as error:
            raise StoreError(f"can't open the session's log {path}: {error.strerror}") from error

    def _begin_again(self, session_id: str) -> JsonlLog:
        """The log, held, of a session that a crash ended before its first event.

        Raises StoreError for every other one, and SessionInUse for one that somebody is just beginning.
        """
        log = self.open(session_id)
        try:
            if not holds_an_event(log):
                log.hold()
                if not holds_an_event(log):
                    return log
        except (SessionInUse, StoreError):
            log.close()
            raise
        log.close()
        raise StoreError(f"session {session_id} exists already: resume it, or choose another sessionId")

    def ids(self) -> list[str]:
        return [found.session_id for found in self._logs()]

    def entries(self) -> list[Entry]:
        known = self._index.rows()
        entries: list[Entry] = []
        read: list[Row] = []
        for found in self._logs(known):
            row = known.pop(found.session_id, None)
            if row is None or row.size != found.size or row.mtime_ns != found.mtime_ns:
                row = self._read(found)
                if row is None:
                    continue
                read.append(row)
            entries.append(row.entry)
        if read or known:
            self._index.update(read, gone=known)
        return entries

    def entry(self, session_id: str) -> Entry:
        try:
            status = (self.folder(session_id) / LOG_NAME).stat()
        except FileNotFoundError:
            raise SessionNotFound(f"Session not found: {session_id}") from None
        except OSError as error:
            raise StoreError(f"can't read the session's log: {error}") from error
        row = self._index.row(session_id)
        if row is None or (row.size, row.mtime_ns) != (status.st_size, status.st_mtime_ns):
            row = self._read(_Found(status.st_mtime_ns, session_id, status.st_size))
            if row is None:
                raise StoreError(f"can't read the log of session {session_id}")
            self._index.update([row])
        return row.entry

    def note(self, notes: Iterable[Note]) -> None:
        self._index.update([row for note in notes if (row := self._noted(note))])

    def delete(self, session_id: str) -> None:
        try:
            held = self.open(session_id)
        except SessionNotFound:
            raise SessionNotFound(f"Session file not found for {session_id}") from None
        try:
            held.hold()
            self.discard(session_id, held)
        finally:
            held.close()
        self._index.update([], gone=[session_id])

    def discard(self, session_id: str, log: EventLog) -> None:
        shutil.rmtree(self.folder(session_id), ignore_errors=True)
        log.close()

    def close(self) -> None:
        self._index.close()
        self._marks.close()

    def folder(self, session_id: str) -> Path:
        return self.root / check_session_id(session_id)

    def _logs(self, known: Container[str] = ()) -> list[_Found]:
        """The sessions that have a log, the one used last first; the names that are `known` were checked."""
        found: list[_Found] = []
        try:
            root = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return found
        try:
            for name in os.listdir(root):  # noqa: PTH208  Paths would cost more than all the rest
                try:
                    status = os.stat(f"{name}/{LOG_NAME}", dir_fd=root)
                except OSError:
                    continue
                if name in known or is_session_id(name):
                    found.append(_Found(status.st_mtime_ns, name, status.st_size))
        finally:
            os.close(root)
        return sorted(found, reverse=True)

    def _noted(self, note: Note) -> Row | None:
        """The row of a session whose log is as it was when the note was made."""
        try:
            status = os.stat(f"{self.root}/{note.session_id}/{LOG_NAME}")  # noqa: PTH116  a third of a path's time
        except OSError:
            return None
        entry = Entry.of(note.session_id, note.state)
        return Row(entry, note.size, status.st_mtime_ns) if status.st_size == note.size else None

    def _read(self, found: _Found) -> Row | None:
        """A row from the log itself, which may grow meanwhile: then it doesn't hold for long."""
        try:
            state = load_state(pieces_of(self.folder(found.session_id) / LOG_NAME))
        except OSError as error:
            log.warning("can't read the log of session %s: %s", found.session_id, error.strerror)
            return None
        return Row(Entry.of(found.session_id, state), found.size, found.mtime_ns)
