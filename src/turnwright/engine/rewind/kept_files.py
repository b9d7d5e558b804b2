"""What files were, in a session's folder: each content once, under its SHA-256."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable
from functools import cached_property
from pathlib import Path

from turnwright.tools.text_file import open_regular

FILE_LIMIT = 32 * 1024 * 1024
"""Bytes of the largest content that is kept; the tools edit no larger files."""

TOTAL_LIMIT = 512 * 1024 * 1024
"""Bytes of all that is kept for a session."""

_CHUNK = 1024 * 1024


class NotKept(Exception):
    """The text says why, to the user."""


class KeptFiles:
    """Contents in the folder `kept` of a session's folder, which is made with the first one."""

    def __init__(self, session_folder: Path, *, limit: int = TOTAL_LIMIT) -> None:
        self._session_folder = session_folder
        self._limit = limit
        self._size: int | None = None

    @cached_property
    def folder(self) -> Path:
        return self._session_folder / "kept"

    def keep(self, content: bytes, digest: str) -> None:
        """Keep a content, on the disk when this returns. Raises NotKept."""
        place = self.folder / digest
        if place.exists():
            return
        if len(content) > FILE_LIMIT:
            raise NotKept("it is too large to be kept")
        if self._used() + len(content) > self._limit:
            raise NotKept("no more is kept for this session: its limit is reached")
        try:
            self._write(place, content)
        except OSError as error:
            raise NotKept(f"it can't be kept: {error.strerror}") from error
        self._size = self._used() + len(content)

    def keep_file(self, path: Path, digest: str) -> None:
        """Keep a file's content for a while, whatever the limits. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.folder / f"{digest}.{os.getpid()}.new"
        shutil.copyfile(path, draft)
        draft.replace(self.folder / digest)

    def has(self, digest: str) -> bool:
        """Whether a content is kept, and is still what it was."""
        return digest_of(self.folder / digest) == digest

    def copy_to(self, digest: str, target: Path, mode: int) -> None:
        """Put a content in the place of a file, or where there is none, in one step. Raises OSError."""
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".turnwright-")
        try:
            with os.fdopen(handle, "wb") as draft, (self.folder / digest).open("rb") as kept:
                while chunk := kept.read(_CHUNK):
                    draft.write(chunk)
                os.fchmod(draft.fileno(), mode)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def prune(self, needed: Collection[str]) -> None:
        """Remove what isn't needed any more. Raises OSError."""
        for place in self._places():
            if place.name not in needed:
                place.unlink(missing_ok=True)
        self._size = None

    def hand_down(self, needed: Iterable[str], other: "KeptFiles") -> None:
        """Let another session have some of the contents too. Raises OSError."""
        for digest in needed:
            source = self.folder / digest
            if source.is_file():
                other.folder.mkdir(parents=True, exist_ok=True)
                _share(source, other.folder / digest)

    def _used(self) -> int:
        if self._size is None:
            self._size = sum(place.stat().st_size for place in self._places())
        return self._size

    def _places(self) -> list[Path]:
        return list(self.folder.iterdir()) if self.folder.is_dir() else []

    def _write(self, place: Path, content: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f"{place.name}.{os.getpid()}.new")
        try:
            with draft.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(place)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


def _share(source: Path, target: Path) -> None:
    """Make a second name of a content, which nobody changes; a copy where there are no links."""
    try:
        target.hardlink_to(source)
    except FileExistsError:
        pass
    except OSError:
        shutil.copyfile(source, target)


def digest_of(path: Path) -> str | None:
    """The SHA-256 of a regular file, in hexadecimal; None when it is none, or can't be read."""
    try:
        with open_regular(path) as file:
            digest = hashlib.sha256()
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
            return digest.hexdigest()
    except OSError:
        return None
