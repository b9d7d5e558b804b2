"""Logs in memory, for tests and for sessions that shall leave nothing behind."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from turnwright.errors import SessionNotFound, StoreError
from turnwright.store.base import EventLog, Note, check_session_id
from turnwright.store.checksums import Altered
from turnwright.store.entry import Entry
from turnwright.store.load import load_state


class MemoryLog:
    """A list of lines."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.size = 0
        self.synced = 0
        self.aside: list[bytes] = []

    def hold(self, *, briefly: bool = False) -> bool:
        return False

    def release(self) -> None:
        pass

    @property
    def is_cut(self) -> bool:
        return False

    def look(self) -> str | None:
        return None

    def append(self, line: bytes) -> None:
        self.lines.append(line)
        self.size += len(line) + 1

    def begin_sync(self) -> Callable[[], None]:
        return self.sync

    def sync(self) -> None:
        """Remember how much was there."""
        self.synced = len(self.lines)

    def begin_naming(self) -> Callable[[], None]:
        return lambda: None

    def read(self, start: int = 0) -> Iterator[bytes]:
        offset = 0
        for line in self.lines:
            if offset >= start:
                yield line
            offset += len(line) + 1

    def pieces(self, start: int = 0) -> Iterator[list[bytes]]:
        yield [line + b"\n" for line in self.read(start)]

    def last(self, beginning: bytes, before: int) -> int | None:
        place = b"".join(line + b"\n" for line in self.lines)[:before].rfind(b"\n" + beginning)
        return place + 1 if place >= 0 else None

    def blocks(self) -> Iterator[bytes]:
        if self.lines:
            yield b"\n".join([*self.lines, b""])

    def verify(self, start: int = 0) -> Altered | None:
        return None

    @property
    def is_ended(self) -> bool:
        return True

    def rewrite(self, lines: Iterable[bytes]) -> None:
        self.lines = list(lines)
        self.size = sum(len(line) + 1 for line in self.lines)

    def set_aside(self, junk: Iterable[bytes]) -> None:
        self.aside.extend(junk)

    def end_at(self, size: int) -> None:
        while self.size > size:
            self.size -= len(self.lines.pop()) + 1

    def close(self) -> None:
        pass


class MemoryStore:
    """Sessions' logs by id; `root` is where their other files go."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.logs: dict[str, MemoryLog] = {}

    def create(self, session_id: str) -> MemoryLog:
        if check_session_id(session_id) in self.logs:
            raise StoreError(f"session {session_id} exists already: resume it, or choose another sessionId")
        self.logs[session_id] = log = MemoryLog()
        return log

    def open(self, session_id: str) -> MemoryLog:
        try:
            return self.logs[check_session_id(session_id)]
        except KeyError:
            raise SessionNotFound(f"Session not found: {session_id}") from None

    def ids(self) -> list[str]:
        return list(reversed(self.logs))

    def entries(self) -> list[Entry]:
        return [self.entry(session_id) for session_id in self.ids()]

    def entry(self, session_id: str) -> Entry:
        return Entry.of(session_id, load_state(self.open(session_id).pieces()))

    def note(self, notes: Iterable[Note]) -> None:
        pass

    def discard(self, session_id: str, log: EventLog) -> None:
        del self.logs[session_id]

    def close(self) -> None:
        pass

    def delete(self, session_id: str) -> None:
        if self.logs.pop(check_session_id(session_id), None) is None:
            raise SessionNotFound(f"Session file not found for {session_id}")

    def folder(self, session_id: str) -> Path:
        return self.root / check_session_id(session_id)
