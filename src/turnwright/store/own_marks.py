"""What tells others of this process: two files, linked into the folder of each session it holds."""

import errno
import os
from contextlib import suppress
from pathlib import Path
from time import time

from turnwright.protocol.wire import new_id
from turnwright.store import holder

_NO_LINKS = (errno.EPERM, errno.EXDEV, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)
_FORGOTTEN = 24 * 3600
"""Seconds after which originals are removed whose process can't be known here, as one in a container."""


def mark_in(session: Path, pid: int) -> Path:
    """The mark that a process leaves in the folder of a session that it holds: `inuse.<pid>.lock`."""
    return session / f"inuse.{pid}.lock"


def beside(mark: Path, pid: int) -> Path:
    """The file that tells of the process itself: `holder.<pid>.json`."""
    return mark.with_name(f"holder.{pid}.json")


class OwnMarks:
    """Leaves this process's mark in folders.

    A link takes no room of its own on the disk: a file made and removed for each run costs some file systems
    as much as all of a turn. `folder` is for the originals, on the sessions' own file system; without one, or
    where there are no links, files are written.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._originals: tuple[Path, Path] | None = None
        self._pid = -1

    def leave(self, session: Path) -> None:
        """Tell in a session's folder that this process holds it. Raises OSError."""
        pid = os.getpid()
        mark = mark_in(session, pid)
        originals = self._made(pid)
        if originals is None or not self._link(originals, (beside(mark, pid), mark)):
            holder.write(beside(mark, pid), holder.this_process())
            mark.write_bytes(b"%d" % pid)

    def remove(self, session: Path) -> None:
        """Take away what was left in a session's folder."""
        mark = mark_in(session, os.getpid())
        for path in (mark, beside(mark, os.getpid())):
            with suppress(OSError):
                path.unlink()

    def close(self) -> None:
        """Remove the originals; they are made again when they are needed."""
        originals, self._originals = self._originals, None
        if originals is not None and self._pid == os.getpid():
            for path in originals:
                with suppress(OSError):
                    path.unlink()

    def _made(self, pid: int) -> tuple[Path, Path] | None:
        if self._folder is None:
            return None
        if self._originals is None or self._pid != pid:
            self._pid = pid
            try:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._sweep()
                told = self._folder / f"{pid}.{new_id()}.json"
                holder.write(told, holder.this_process())
                mark = told.with_suffix(".lock")
                mark.write_bytes(b"%d" % pid)
                self._originals = told, mark
            except OSError:
                self._originals = None
        return self._originals

    def _link(self, originals: tuple[Path, Path], places: tuple[Path, Path]) -> bool:
        try:
            for original, place in zip(originals, places, strict=True):
                try:
                    os.link(original, place)
                except FileExistsError:  # of an earlier process with this pid
                    place.unlink()
                    os.link(original, place)
        except OSError as error:
            if error.errno in _NO_LINKS:
                self.close()
                self._folder = None
            elif not all(original.exists() for original in originals):
                self.close()
            return False
        return True

    def _sweep(self) -> None:
        """Remove what processes left that were killed. One that lives elsewhere makes its own again."""
        assert self._folder is not None
        for told in self._folder.glob("*.json"):
            with suppress(OSError):
                found = holder.read(told)
                if found is None or found.fate == "gone" or told.stat().st_mtime < time() - _FORGOTTEN:
                    told.with_suffix(".lock").unlink(missing_ok=True)
                    told.unlink()
