"""Keeping what a file is, right before a tool changes it."""

import base64
import hashlib
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from turnwright.engine.rewind.kept_files import KeptFiles, NotKept
from turnwright.protocol.events.files import FileCaptured
from turnwright.protocol.wire import clean
from turnwright.tools.base import FileChange

if TYPE_CHECKING:
    from turnwright.engine.session import Session


class Capture:
    """Logs each change of a file before it is made; what the file was is kept once for each prompt.

    Once more only when somebody else has changed it between two changes of ours.
    """

    def __init__(self, s: "Session") -> None:
        self._s = s
        self.kept = KeptFiles(s.folder)
        self._lock = threading.Lock()
        self._prompt: object = None
        self._last: dict[Path, str] = {}

    def preserve(self, change: FileChange) -> None:
        """Do it, in the thread that makes the change; not where the session doesn't keep track of files.

        Raises StoreError when the log takes nothing: then the file must be left alone.
        """
        if self._s.journal.state.tracks_files:
            with self._lock:
                captured = self._captured(change)
                _on_the_loop(lambda: self._s.emit(captured))
                self._last[change.path] = captured.after

    def _captured(self, change: FileChange) -> FileCaptured:
        state = self._s.journal.state
        prompt = (state.prompts, self._s.run.interaction_id)
        if prompt != self._prompt:
            self._prompt = prompt
            self._last.clear()
        after = _digest(change.after)
        shown, raw = _spelled(change.path)
        captured = FileCaptured(
            shown, after, lines_added=change.lines_added, lines_removed=change.lines_removed, raw_path=raw
        )
        if change.before is not None:
            captured.before = _digest(change.before)
            captured.mode = stat.S_IMODE(change.path.stat().st_mode)
            if self._last.get(change.path) != captured.before:
                try:
                    self.kept.keep(change.before, captured.before)
                except NotKept as reason:
                    captured.left_out = str(reason)
        return captured


def path_of(captured: FileCaptured) -> Path:
    """The path of a file, as the system spells it."""
    return Path(os.fsdecode(base64.b64decode(captured.raw_path)) if captured.raw_path else captured.path)


def _spelled(path: Path) -> tuple[str, str | None]:
    text = str(path)
    shown = clean(text)
    return shown, None if shown == text else base64.b64encode(os.fsencode(path)).decode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _on_the_loop(emit: Callable[[], object]) -> None:
    from anyio.from_thread import run_sync  # loads much that a start has no use of

    run_sync(emit)
