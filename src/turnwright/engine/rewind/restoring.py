"""Putting files back to what they were: what would be done, and doing it."""

import os
import stat
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from turnwright.engine.rewind.capture import path_of
from turnwright.engine.rewind.kept_files import KeptFiles, digest_of
from turnwright.protocol.events.files import FileCaptured

DEFAULT_MODE = 0o644

ChangeType = Literal["created", "deleted", "modified"]
SkipReason = Literal["skipped-capture", "user-modified"]


class Snapshot(NamedTuple):
    """What stands at a path; a file has a digest, other things have none."""

    kind: Literal["nothing", "file", "other"]
    digest: str | None = None
    mode: int = DEFAULT_MODE
    stamp: object = None


class FileRestore(NamedTuple):
    """A file that was changed since a prompt: what it was (None: not there), and what it is now.

    `skip` says why it is left alone: what it was is not kept, or somebody else has changed it since. Of the
    latter, `overwritable` are those that can be put back all the same.
    """

    path: Path
    was: str | None
    mode: int
    now: Snapshot
    lines_added: int
    lines_removed: int
    skip: SkipReason | None
    overwritable: bool

    @property
    def change(self) -> ChangeType:
        """What was done to the file since."""
        if self.was is None:
            return "created"
        return "deleted" if self.now.kind == "nothing" else "modified"

    @property
    def is_done(self) -> bool:
        """Whether the file is what it was."""
        return self.now.digest == self.was if self.was else self.now.kind == "nothing"


class Failed(Exception):
    """Files couldn't be put back; `undone` tells whether those that were are again what they have been."""

    def __init__(self, message: str, *, undone: bool) -> None:
        super().__init__(message)
        self.undone = undone


def plan(changes: Iterable[FileCaptured], kept: KeptFiles) -> list[FileRestore]:
    """What putting back the files of these changes, in order, would mean for each, sorted by path."""
    by_path: dict[Path, list[FileCaptured]] = {}
    for change in changes:
        by_path.setdefault(path_of(change), []).append(change)
    return [_planned(path, by_path[path], kept) for path in sorted(by_path)]


def _planned(path: Path, changes: list[FileCaptured], kept: KeptFiles) -> FileRestore:
    first, now = changes[0], snapshot(path)
    skip: SkipReason | None = None
    overwritable = True
    if first.before is not None and (first.left_out or not kept.has(first.before)):
        skip, overwritable = "skipped-capture", False
    elif now.kind == "other":
        skip, overwritable = "user-modified", False
    elif now.kind == "file" and not _is_ours(now.digest, changes):
        skip = "user-modified"
    return FileRestore(
        path,
        first.before,
        first.mode or DEFAULT_MODE,
        now,
        sum(change.lines_added for change in changes),
        sum(change.lines_removed for change in changes),
        skip,
        overwritable,
    )


def _is_ours(digest: str | None, changes: list[FileCaptured]) -> bool:
    """Whether all that happened to a file is in the changes: a change that failed left it as it was."""
    for change, following in pairwise(changes):
        if following.before not in (change.after, change.before):
            return False
    return any(digest in (change.before, change.after) for change in changes)


def snapshot(path: Path) -> Snapshot:
    """What stands at a path now; a link is no file, and neither is what can't be read."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return Snapshot("nothing")
    except OSError:  # a file stands where a folder was, or a folder can't be looked into
        return Snapshot("other")
    digest = digest_of(path) if stat.S_ISREG(status.st_mode) else None
    return (
        Snapshot("file", digest, stat.S_IMODE(status.st_mode), _stamp(path)) if digest else Snapshot("other")
    )


def _stamp(path: Path) -> object:
    """What changes when a file does; None where there is none."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def restore(files: Iterable[FileRestore], kept: KeptFiles) -> None:
    """Put the files back, each in one step. Raises Failed, and then those before it are as they have been."""
    done: list[FileRestore] = []
    for file in files:
        try:
            if _stamp(file.path) != file.now.stamp:
                raise OSError(None, "it has changed meanwhile")
            if file.now.digest:  # so that this can be undone
                kept.keep_file(file.path, file.now.digest)
            _put(file.path, file.was, file.mode, kept)
        except OSError as error:
            undone = _undo(done, kept)
            raise Failed(f"can't restore {file.path}: {error.strerror}", undone=undone) from error
        done.append(file)


def _undo(done: list[FileRestore], kept: KeptFiles) -> bool:
    undone = True
    for file in reversed(done):
        try:
            _put(file.path, file.now.digest, file.now.mode, kept)
        except OSError:
            undone = False
    return undone


def _put(path: Path, digest: str | None, mode: int, kept: KeptFiles) -> None:
    if digest is None:
        path.unlink(missing_ok=True)
    else:
        kept.copy_to(digest, path, mode)
