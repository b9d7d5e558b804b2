"""A disk that remembers what was not yet synced, and can lose, tear and reorder it in a power loss."""

import itertools
import random
from pathlib import Path
from typing import NamedTuple

from turnwright.store.disk import Disk

SECTOR = 512


class Write(NamedTuple):
    """Bytes at an offset of a file."""

    file: int
    offset: int
    data: bytes


class Truncate(NamedTuple):
    """The new end of a file."""

    file: int
    size: int


class Name(NamedTuple):
    """A file has got a name, and lost the one that it had; a folder has the file None."""

    path: Path
    file: int | None
    before: Path | None = None


class Sync(NamedTuple):
    """A file or a folder is on the disk, as it was after so many operations."""

    of: int | Path
    done: int


Operation = Write | Truncate | Name | Sync


class VolatileDisk(Disk):
    """Does everything as the machine's own disk, save the syncs, and keeps a record of it in `done`."""

    def __init__(self) -> None:
        self.done: list[Operation] = []
        self._ids = itertools.count()
        self._files: dict[Path, int] = {}
        self._open: dict[int, int | Path] = {}
        self._sizes: dict[int, int] = {}

    def open(self, path: Path, flags: int) -> int:
        is_new = not path.exists()
        fd = super().open(path, flags)
        if path.is_dir():
            self._open[fd] = path
            return fd
        if is_new:
            self._files[path] = file = next(self._ids)
            self._sizes[file] = 0
            self.done.append(Name(path, file))
        self._open[fd] = self._files[path]
        return fd

    def write(self, fd: int, data: bytes | memoryview) -> int:
        count = super().write(fd, data)
        file = self._file(fd)
        self.done.append(Write(file, self._sizes[file], bytes(data[:count])))
        self._sizes[file] += count
        return count

    def truncate(self, fd: int, size: int) -> None:
        super().truncate(fd, size)
        self.done.append(Truncate(self._file(fd), size))
        self._sizes[self._file(fd)] = size

    def sync(self, fd: int) -> None:
        before = len(self.done)
        self.done.append(Sync(self._open[fd], before))

    def replace(self, source: Path, target: Path) -> None:
        super().replace(source, target)
        self._files[target] = self._files.pop(source)
        self.done.append(Name(target, self._files[target], source))

    def make_folder(self, path: Path) -> None:
        missing = [each for each in (path, *path.parents) if not each.exists()]
        super().make_folder(path)
        self.done += [Name(folder, None) for folder in reversed(missing)]

    def _file(self, fd: int) -> int:
        file = self._open[fd]
        assert isinstance(file, int)
        return file


def survivors(done: list[Operation], chance: random.Random) -> dict[Path, bytes]:
    """The files that are there after a power loss, once so much was done.

    What was synced is there. The rest is there or not, each operation by itself; of a write, any of its
    sectors may be missing, or its end.
    """
    synced: dict[int | Path, int] = {}
    for operation in done:
        if isinstance(operation, Sync):
            synced[operation.of] = max(operation.done, synced.get(operation.of, 0))
    luck = chance.choice([0.0, 0.5, 0.9])
    files: dict[int, bytearray] = {}
    names: dict[Path, int | None] = {}
    for number, operation in enumerate(done):
        match operation:
            case Write(file, offset, data):
                content = files.setdefault(file, bytearray())
                if number < synced.get(file, 0):
                    _put(content, offset, data)
                elif chance.random() < luck:
                    _tear(content, offset, data, chance)
            case Truncate(file, size):
                if number < synced.get(file, 0) or chance.random() < luck:
                    del files.setdefault(file, bytearray())[size:]
            case Name(path, file, before):
                if number < synced.get(path.parent, 0) or chance.random() < luck:
                    names[path] = file
                    if before is not None:
                        names.pop(before, None)
            case Sync():
                pass
    made = {operation.path for operation in done if isinstance(operation, Name) and operation.file is None}
    return {
        path: bytes(files.get(file, b""))
        for path, file in names.items()
        if file is not None and all(folder in names for folder in path.parents if folder in made)
    }


def _put(content: bytearray, offset: int, data: bytes) -> None:
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


def _tear(content: bytearray, offset: int, data: bytes, chance: random.Random) -> None:
    match chance.choice(["whole", "cut", "sectors"]):
        case "whole":
            _put(content, offset, data)
        case "cut":
            _put(content, offset, data[: chance.randrange(len(data) + 1)])
        case _:
            for start in range(0, len(data), SECTOR):
                piece = data[start : start + SECTOR]
                _put(content, offset + start, piece if chance.random() < 0.5 else bytes(len(piece)))


def restore(files: dict[Path, bytes], old: Path, new: Path) -> None:
    """Put files that were in one folder into another."""
    for path, content in files.items():
        target = new / path.relative_to(old)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    new.mkdir(parents=True, exist_ok=True)
