"""The index of sessions: what a list needs, so that it reads no log. It can be deleted at any time."""

import logging
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from turnwright.protocol import wire
from turnwright.store.entry import Entry

if TYPE_CHECKING:
    from sqlite3 import Connection

log = logging.getLogger(__name__)

T = TypeVar("T")

VERSION = 2
SECONDS_TO_WAIT = 0.1
_CREATE = """
    CREATE TABLE IF NOT EXISTS sessions (
        session_id TEXT PRIMARY KEY, entry BLOB NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL
    )
"""
_SELECT = "SELECT entry, size, mtime_ns FROM sessions"
_REPLACE = "REPLACE INTO sessions VALUES (?, ?, ?, ?)"
_decoder = msgspec.json.Decoder(Entry)


class Row(msgspec.Struct, frozen=True, gc=False):
    """A session's entry, and the size and time of the log that it was read from: it holds while they do."""

    entry: Entry
    size: int
    mtime_ns: int


class SessionIndex:
    """An SQLite file. When it is damaged it is made anew; when it can't be used, it is as though empty."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: Connection | None = None

    def rows(self) -> dict[str, Row]:
        """All rows by session."""
        return self._with(
            lambda index: {row.entry.session_id: row for row in _rows(index.execute(_SELECT))},
            dict[str, Row](),
        )

    def row(self, session_id: str) -> Row | None:
        """One session's row."""
        of_one = f"{_SELECT} WHERE session_id = ?"
        return self._with(lambda index: next(iter(_rows(index.execute(of_one, (session_id,)))), None), None)

    def update(self, rows: Iterable[Row], gone: Iterable[str] = ()) -> None:
        """Put rows in, and take out those of sessions that are gone, all at once."""

        def write(index: "Connection") -> None:
            with index:
                index.executemany(_REPLACE, map(_values, rows))
                index.executemany("DELETE FROM sessions WHERE session_id = ?", [(name,) for name in gone])

        self._with(write, None)

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _with(self, work: Callable[["Connection"], T], otherwise: T) -> T:
        import sqlite3

        for _ in range(2):
            try:
                return work(self._open())
            except (OSError, sqlite3.OperationalError) as error:  # no room, no permission, another's lock
                log.info("the index of sessions can't be used: %s", error)
                break
            except sqlite3.DatabaseError as error:
                log.warning("the index of sessions is damaged, and is made anew: %s", error)
                self._discard()
        return otherwise

    def _open(self) -> "Connection":
        import sqlite3

        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._connection = sqlite3.connect(self._path, timeout=SECONDS_TO_WAIT)
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, VERSION):
                raise sqlite3.DatabaseError(f"its version is {version}")
            if version == 0:
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute(_CREATE)
                self._connection.execute(f"PRAGMA user_version = {VERSION}")
            self._connection.execute("PRAGMA synchronous = OFF")
        return self._connection

    def _discard(self) -> None:
        self.close()
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                self._path.with_name(self._path.name + suffix).unlink()


def _rows(found: Iterable[tuple[bytes, int, int]]) -> list[Row]:
    """Rows as they are stored, whose entries are decoded all at once: that takes a third of the time.

    Raises sqlite3.DatabaseError when one is none.
    """
    stored = list(found)
    if not stored:
        return []
    encoded, sizes, times = zip(*stored, strict=True)
    try:
        entries = _decoder.decode_lines(b"\n".join(encoded))
        return [Row(*each) for each in zip(entries, sizes, times, strict=True)]
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        import sqlite3

        raise sqlite3.DatabaseError("a row holds no entry") from error


def _values(row: Row) -> tuple[object, ...]:
    return row.entry.session_id, wire.encode(row.entry), row.size, row.mtime_ns
