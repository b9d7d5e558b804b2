"""Logs as files: <root>/<sessionId>/events.jsonl, one event a line."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from turnwright.errors import SessionNotFound, StoreError
from turnwright.store.base import check_session_id

LOG_NAME = "events.jsonl"


class JsonlLog:
    """One file, opened to append; a line that can't be written whole is taken back."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = _open(path)
        self.size = os.fstat(self._fd).st_size

    def append(self, line: bytes) -> None:
        try:
            if os.fstat(self._fd).st_nlink == 0:
                self._restore()
            self._write(line + b"\n")
        except OSError as error:
            raise StoreError(f"can't write to the session's log {self._path}: {error.strerror}") from error

    def sync(self) -> None:
        try:
            os.fsync(self._fd)
        except OSError as error:
            raise StoreError(f"can't sync the session's log {self._path}: {error.strerror}") from error

    def read(self) -> Iterator[bytes]:
        with open(self._fd, "rb", closefd=False) as file:
            file.seek(0)
            for line in file:
                yield line.rstrip(b"\n")

    def rewrite(self, lines: Iterable[bytes]) -> None:
        draft = self._path.with_name(f"{LOG_NAME}.{os.getpid()}.new")
        try:
            with open(_open(draft, os.O_TRUNC), "wb") as file:
                file.writelines(line + b"\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink()
            raise StoreError(f"can't rewrite the session's log {self._path}: {error.strerror}") from error
        fd = _open(self._path)  # before the old one is closed: when it fails, that is still the log
        self.close()
        self._fd = fd
        self.size = os.fstat(self._fd).st_size

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _write(self, record: bytes) -> None:
        """Write it whole, or take back what was written of it."""
        rest = memoryview(record)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]  # what follows a short write says why it was short
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._fd, self.size)
            raise
        self.size += len(record)

    def _restore(self) -> None:
        """Someone removed the file under a live session: write what it held, which is still open to us."""
        held = list(self.read())
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.rewrite(held)


class JsonlStore:
    """A folder of sessions, each with its log."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def create(self, session_id: str) -> JsonlLog:
        path = self.folder(session_id) / LOG_NAME
        if path.exists():
            raise StoreError(f"session {session_id} exists already: resume it, or choose another sessionId")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StoreError(f"can't make the session's folder {path.parent}: {error.strerror}") from error
        return JsonlLog(path)

    def open(self, session_id: str) -> JsonlLog:
        path = self.folder(session_id) / LOG_NAME
        if not path.is_file():
            raise SessionNotFound(f"Session not found: {session_id}")
        try:
            _mend_tail(path)
        except OSError as error:
            raise StoreError(f"can't open the session's log {path}: {error.strerror}") from error
        return JsonlLog(path)

    def ids(self) -> list[str]:
        found: list[tuple[float, str]] = []
        with suppress(FileNotFoundError), os.scandir(self.root) as entries:
            for entry in entries:
                with suppress(OSError):
                    found.append((Path(entry.path, LOG_NAME).stat().st_mtime, entry.name))
        return [name for _, name in sorted(found, reverse=True)]

    def delete(self, session_id: str) -> None:
        folder = self.folder(session_id)
        if not (folder / LOG_NAME).is_file():
            raise SessionNotFound(f"Session file not found for {session_id}")
        shutil.rmtree(folder, ignore_errors=True)

    def folder(self, session_id: str) -> Path:
        return self.root / check_session_id(session_id)


def _open(path: Path, flags: int = 0) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | flags, 0o600)
    except OSError as error:
        raise StoreError(f"can't open the session's log {path}: {error.strerror}") from error


def _mend_tail(path: Path) -> None:
    """Set a last line without its end aside, beside the log: the next append starts on a new line."""
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        tail = b""
        while size and not tail.startswith(b"\n"):
            start = max(0, size - 65536)
            file.seek(start)
            block = file.read(size - start)
            end = block.rfind(b"\n")
            if end >= 0:
                tail = block[end:] + tail
                size = start + end
            else:
                tail = block + tail
                size = start
        whole = size + 1 if tail.startswith(b"\n") else size
        torn = tail.removeprefix(b"\n")
        if not torn:
            return
        with path.with_name(f"{LOG_NAME}.torn").open("ab") as aside:
            aside.write(torn + b"\n")
        file.truncate(whole)
