"""What tells others of this process: two files, linked into the folder of each session it holds.

Each run leaves them and takes them away: their names are texts, as a path takes five times as long.
"""

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


def mark_of(pid: int) -> str:
    """The name of the mark that a process leaves in the folder of a session that it holds."""
    return f"inuse.{pid}.lock"


def telling_of(pid: int) -> str:
    """The name of the file beside the mark, which tells of the process itself."""
    return f"holder.{pid}.json"


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
        originals = self._made(pid)
        if originals is None or not self._link(originals, _places(session, pid)):
            holder.write(session / telling_of(pid), holder.this_process())
            (session / mark_of(pid)).write_bytes(b"%d" % pid)

    def remove(self, session: Path) -> None:
        """Take away what was left in a session's folder."""
        for place in reversed(_places(session, os.getpid())):
            with suppress(OSError):
                os.unlink(place)  # noqa: PTH108

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

    def _link(self, originals: tuple[Path, Path], places: tuple[str, str]) -> bool:
        try:
            for original, place in zip(originals, places, strict=True):
                try:
                    os.link(original, place)
                except FileExistsError:  # of an earlier process with this pid
                    os.unlink(place)  # noqa: PTH108
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


def _places(session: Path, pid: int) -> tuple[str, str]:
    """Where a process's two files stand in a session's folder: the mark last, which others look for."""
    return f"{session}/{telling_of(pid)}", f"{session}/{mark_of(pid)}"
