"""A log as a file, one event a line."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from turnwright.errors import StoreError
from turnwright.store.checksums import NOTHING, Altered, Checksums, Sum, verify
from turnwright.store.descriptor import Descriptor
from turnwright.store.disk import Disk
from turnwright.store.folders import NOTHING_TO_SYNC, Folders, Names
from turnwright.store.lease import Lease
from turnwright.store.meddling import Place
from turnwright.store.own_marks import OwnMarks
from turnwright.store.reading import BLOCK, NOT_REGULAR, blocks_in, last_in, lines_in, pieces_in
from turnwright.store.syncing import Sync

LOG_NAME = "events.jsonl"
TORN_NAME = f"{LOG_NAME}.torn"
REPLACED_NAME = f"{LOG_NAME}.replaced"
ANOTHER = "Another program"
REWRITTEN = 1 << 20
"""Bytes that are written at once when a log is written anew."""


class JsonlLog:
    """One file, opened to append; a line that can't be written whole is taken back."""

    def __init__(
        self,
        path: Path,
        disk: Disk,
        *,
        new: bool,
        folders: Folders | None = None,
        marks: OwnMarks | None = None,
    ) -> None:
        self._path = path
        self._disk = disk
        self._folders = folders or Folders()
        self._lease = Lease(path.parent, marks)
        self._checksums = Checksums(path)
        self._sum: Sum | None = NOTHING if new else None
        self._file = Descriptor(
            disk.open(path, os.O_RDWR | os.O_APPEND | (os.O_CREAT | os.O_EXCL if new else 0))
        )
        self._fd = self._file.fd
        self._is_open = True
        status = os.fstat(self._fd)
        if not stat.S_ISREG(status.st_mode):
            self._file.close()
            raise OSError(errno.EINVAL, NOT_REGULAR)
        self.size = status.st_size
        self._is_held = False
        self._is_torn = False
        self.is_cut = False
        self._place = Place(path, self._fd)
        self._doubtful: Descriptor | None = None
        self._named: Descriptor | None = None
        self._version = 0
        self._synced: tuple[Sum | None, int] | None = None
        if new:
            self._checksums.forget()

    def hold(self, *, briefly: bool = False) -> bool:
        try:
            is_new = not self._is_held and self._take()
        except OSError as error:
            self._lease.give_back(self._fd)
            raise self._error("hold", error) from error
        if not briefly:
            self._lease.tell()
        return is_new

    def _take(self) -> bool:
        if not self._is_open:
            raise StoreError(f"can't write to the session's log {self._path}: it is closed")
        was = os.fstat(self._fd).st_ino, self.size
        self._lease.take(self._fd)
        while not self._is_in_place():
            self._lease.give_back(self._fd)
            self._reopen()
            self._lease.take(self._fd)
        self._is_held = True
        status = os.fstat(self._fd)
        self.is_cut = status.st_ino == was[0] and status.st_size < was[1]
        if self.is_cut:
            self._forget_sums()
        self.size = status.st_size
        return (status.st_ino, status.st_size) != was

    def release(self) -> None:
        if self._is_held:
            self._note_sync()
            self._checksums.close()
            self._lease.give_back(self._fd)
            self._is_held = False
            self._version += 1  # whoever holds it next may make another log of it

    def append(self, line: bytes) -> None:
        record = line + b"\n"
        try:
            if self._synced is not None:
                self._note_sync()
            if self._doubtful is self._file:
                self._write_anew()
            if self._is_torn:
                self._disk.truncate(self._fd, self.size)
                self._is_torn = False
            self._write_all(self._fd, record)
        except OSError as error:
            self._take_back()
            raise self._error("write to", error) from error
        self.size += len(record)
        if self._sum is not None:
            self._sum = self._sum.after(record)

    def look(self) -> str | None:
        try:
            if self._synced is not None:
                self._note_sync()
            found = None if self._is_torn else self._place.look(self.size)
            match found:
                case None:
                    return None
                case "removed":
                    self._write_anew()
                    return f"{ANOTHER} removed the session's log. It was written anew."
                case "replaced":
                    self._disk.replace(self._path, kept := self._path.with_name(REPLACED_NAME))
                    self._write_anew()
                    return f"{ANOTHER} put a file in the place of the session's log. It is now {kept.name}."
                case "longer":
                    grown = self._take_as_it_is()
                    return f"{ANOTHER} wrote {grown} bytes into the session's log. They were left in it."
                case "shorter":
                    size = os.fstat(self._fd).st_size
                    raise StoreError(f"{ANOTHER} cut the session's log {self._path} to {size} bytes")
        except OSError as error:
            raise self._error("write to", error) from error

    def _take_as_it_is(self) -> int:
        """Go on behind what was written by others, on a line of its own; how many bytes that was."""
        known, self.size, self._sum = self.size, os.fstat(self._fd).st_size, None
        grown = self.size - known
        if not self.is_ended:
            self._write_all(self._fd, b"\n")
            self.size += 1
        return grown

    def begin_sync(self) -> Sync:
        if not self._is_open:
            raise StoreError(f"can't sync the session's log {self._path}: it is closed")
        file = self._file
        sum = self._sum if self._is_held else None
        ended = partial(self._end_sync, file, (sum, self._version))
        return Sync(self._disk, file, partial(self._unsynced_names, file), ended)

    def _end_sync(
        self, file: Descriptor, synced: tuple[Sum | None, int], names: Names, failure: OSError | None
    ) -> None:
        if failure is not None:
            self._doubtful = file
            raise self._error("sync", failure) from failure
        self._end_naming(file, names, None)
        self._synced = synced

    def begin_naming(self) -> Sync:
        file = self._file
        return Sync(self._disk, None, partial(self._unsynced_names, file), partial(self._end_naming, file))

    def _end_naming(self, file: Descriptor, names: Names, failure: OSError | None) -> None:
        if failure is not None:
            raise self._error("sync", failure) from failure
        if names.folders:
            self._folders.synced(names)
            self._named = file

    def _unsynced_names(self, file: Descriptor) -> Names:
        """The folders that lead to a file of this log and may not be on the disk. Any thread may ask."""
        return NOTHING_TO_SYNC if self._named is file else self._folders.to_sync(self._path)

    def _note_sync(self) -> None:
        """Keep the sum of what was synced, and see whether the name still stands for the file.

        Done by the next who writes: a thread that syncs would wait for Python after each of these calls, and
        Python for it.
        """
        synced, self._synced = self._synced, None
        if synced is not None:
            self._place.check()
            sum, version = synced
            if sum is not None and version == self._version:
                self._checksums.note(sum)

    def verify(self, start: int = 0) -> Altered | None:
        self._note_sync()
        if not self.size:  # as it was begun, whatever was noted of another log of that name
            self._sum = NOTHING
            return None
        noted = list(self._checksums.noted())
        if start and not noted:  # a big log of another program's
            return None
        trusted = max((sum for sum in noted if sum.size <= start), default=NOTHING)
        with open(self._fd, "rb", buffering=0, closefd=False) as file:
            file.seek(trusted.size)
            verified = verify(iter(partial(file.read, BLOCK), b""), noted, trusted)
        self._sum = verified.sum if verified.sum.size == self.size else None
        return verified.altered

    def read(self, start: int = 0) -> Iterator[bytes]:
        return lines_in(self._fd, start)

    def pieces(self, start: int = 0) -> Iterator[list[bytes]]:
        return pieces_in(self._fd, start)

    def last(self, beginning: bytes, before: int) -> int | None:
        return last_in(self._fd, beginning, before)

    def blocks(self) -> Iterator[bytes]:
        return blocks_in(self._fd)

    @property
    def is_ended(self) -> bool:
        return self.size == 0 or os.pread(self._fd, 1, self.size - 1) == b"\n"

    def rewrite(self, lines: Iterable[bytes]) -> None:
        draft = self._path.with_name(f"{LOG_NAME}.{os.getpid()}.new")
        fd = -1
        try:
            fd = self._disk.open(draft, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC)
            sum = NOTHING
            for block in _blocks(lines):
                self._write_all(fd, block)
                sum = sum.after(block)
            self._disk.sync(fd)
            if self._is_held:
                self._lease.extend(fd)
            self._forget_sums()
            self._disk.replace(draft, self._path)
            self._take_over(fd)
        except OSError as error:
            if fd >= 0:
                os.close(fd)
            with suppress(OSError):
                draft.unlink()
            raise self._error("rewrite", error) from error
        self.size = os.fstat(fd).st_size
        self._sum = sum
        self._is_torn = False

    def set_aside(self, junk: Iterable[bytes]) -> None:
        try:
            fd = self._disk.open(self._path.with_name(TORN_NAME), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            try:
                for piece in junk:
                    self._write_all(fd, piece + b"\n")
                self._disk.sync(fd)
            finally:
                os.close(fd)
        except OSError as error:
            raise self._error("set aside what is damaged in", error) from error

    def end_at(self, size: int) -> None:
        self._forget_sums()
        try:
            self._disk.truncate(self._fd, size)
            self.size = size
            if not self.is_ended:
                self._write_all(self._fd, b"\n")
                self.size += 1
        except OSError as error:
            raise self._error("mend", error) from error

    def close(self) -> None:
        if self._is_open:
            self._note_sync()
            self.release()
            self._checksums.close()
            self._is_open = False
            self._fd = -1
            self._file.close()

    def _is_in_place(self) -> bool:
        """Whether our file is the one under the log's name; one that was removed is written anew later."""
        try:
            return os.path.samestat(os.fstat(self._fd), self._path.stat())
        except FileNotFoundError:
            return True

    def _reopen(self) -> None:
        try:
            fd = self._disk.open(self._path, os.O_RDWR | os.O_APPEND)
        except OSError as error:
            raise self._error("open", error) from error
        self._take_over(fd)

    def _take_over(self, fd: int) -> None:
        """Go on with another file; a sync of the one so far, in a thread, ends with that one."""
        before, self._file, self._fd = self._file, Descriptor(fd), fd
        self._place = Place(self._path, fd)
        before.close()

    def _forget_sums(self) -> None:
        """The log is about to be another: a sync under way shall note no sum of what it was."""
        self._version += 1
        self._checksums.forget()
        self._sum = None

    def _write_anew(self) -> None:
        """The file was removed under a live session, or the disk may have lost some of it: what it holds is
        still open to us."""
        self._disk.make_folder(self._path.parent)
        self.rewrite(self.read())

    def _write_all(self, fd: int, data: bytes) -> None:
        """Write all of it; after a short write the next one says why it was short."""
        written = self._disk.write(fd, data)
        while written < len(data):
            written += self._disk.write(fd, memoryview(data)[written:])

    def _take_back(self) -> None:
        try:
            self._disk.truncate(self._fd, self.size)
        except OSError:
            self._is_torn = True

    def _error(self, action: str, error: OSError) -> StoreError:
        return StoreError(f"can't {action} the session's log {self._path}: {error.strerror}")


def _blocks(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with their newlines, many at once."""
    gathered: list[bytes] = []
    size = 0
    for line in lines:
        gathered.append(line + b"\n")
        size += len(line) + 1
        if size >= REWRITTEN:
            yield b"".join(gathered)
            gathered, size = [], 0
    yield b"".join(gathered)
