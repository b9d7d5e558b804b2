"""Going back to before a prompt: the conversation, and the files that were changed since.

Files first, each in one step, then the log, at once: what a crash leaves between the two is a workspace that
went back and a conversation that didn't. The same rewind again finds the files done, and does the rest.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import anyio.to_thread

from turnwright.engine import checkpoints
from turnwright.engine.rewind.points import Point, needed, points
from turnwright.engine.rewind.restoring import Failed, FileRestore, plan, restore
from turnwright.engine.rewind.truncate import is_at_work, truncate
from turnwright.errors import InvalidParams, TurnwrightError
from turnwright.protocol.events.files import FileCaptured
from turnwright.protocol.rewind import (
    FilePreview,
    RewindMode,
    RewindPoint,
    RewindPoints,
    RewindPreview,
    RewindResult,
    SkippedFile,
)
from turnwright.protocol.wire import clean
from turnwright.tools.files import TRACKED

if TYPE_CHECKING:
    from turnwright.engine.session import Session


def rewind_points(s: "Session") -> RewindPoints:
    """The prompts that the session can go back to."""
    tracks = s.journal.state.tracks_files
    if tracks and is_at_work(s):
        return RewindPoints(tracks, [], "session-busy")
    found = points(s.journal.log.read())
    return RewindPoints(tracks, [_told(found, index) for index in range(len(found))])


def _told(found: list[Point], index: int) -> RewindPoint:
    point = found[index]
    since = _changes(found[index:])
    kept = {change.path for change in since if not change.left_out}
    return RewindPoint(
        point.event_id,
        point.message.content,
        point.timestamp,
        can_restore_files=bool(kept),
        file_count=len({change.path for change in since}),
        turn_changed_files=bool(point.changes),
        lines_added=sum(change.lines_added for change in point.changes),
        lines_removed=sum(change.lines_removed for change in point.changes),
        is_autopilot_continuation=bool(point.message.is_autopilot_continuation),
    )


async def preview(s: "Session", event_id: str) -> RewindPreview:
    """What going back to before a prompt would do to files. Raises InvalidParams when it is no prompt."""
    since = _since(s, event_id)
    if not s.journal.state.tracks_files:
        return RewindPreview(False, 0, [], "file-change-tracking-disabled")
    if is_at_work(s):
        return RewindPreview(False, 0, [], "session-busy")
    files = await anyio.to_thread.run_sync(plan, _changes(since), s.capture.kept)
    restored = [
        FilePreview(clean(str(file.path)), file.change, file.lines_added, file.lines_removed)
        for file in files
        if not file.skip and not file.is_done
    ]
    return RewindPreview(
        True, len(restored), restored, skipped_files=_skipped(files), untracked_tools=_untracked(s, since)
    )


async def rewind(
    s: "Session", event_id: str, mode: RewindMode, *, overwrite_modified: bool = False
) -> RewindResult:
    """Go back to before a prompt. Raises InvalidParams when it is no prompt.

    Files that somebody else has changed since are left alone, unless they shall be overwritten.
    """
    since, last = _since(s, event_id), s.journal.state.last_id
    files: list[FileRestore] = []
    if mode == "conversation-and-files":
        if not s.journal.state.tracks_files:
            return RewindResult("file-change-tracking-disabled", [], [])
        files = await anyio.to_thread.run_sync(plan, _changes(since), s.capture.kept)
    if is_at_work(s) or s.journal.state.last_id != last:
        return RewindResult("session-busy", [], [])
    if overwrite_modified:
        files = [file._replace(skip=None) if file.overwritable else file for file in files]
    # From here on nothing is awaited: no prompt can come in between.
    wanted = [file for file in files if not file.skip and not file.is_done]
    skipped = _skipped(files)
    try:
        restore(wanted, s.capture.kept)
    except Failed as error:
        outcome = "files-rolled-back" if error.undone else "rollback-incomplete"
        return RewindResult(outcome, [], skipped, str(error))
    done = RewindResult("success", [clean(str(file.path)) for file in wanted], skipped)
    try:
        done.events_removed = truncate(s, event_id)
    except TurnwrightError as error:
        done.outcome, done.error = "truncation-failed", str(error)
        return done
    _clean_up(s, done)
    return done


def _clean_up(s: "Session", done: RewindResult) -> None:
    """Remove the files of summaries that are gone, and what no point needs any more."""
    try:
        checkpoints.prune(s.folder, s.journal.state.compactions)
    except OSError as error:
        done.outcome, done.error = "checkpoint-cleanup-failed", f"can't remove a checkpoint: {error.strerror}"
        return
    try:
        s.capture.kept.prune(needed(s.journal.events()))
    except OSError as error:
        done.outcome, done.error = "snapshot-prune-failed", f"can't remove what was kept: {error.strerror}"


def _since(s: "Session", event_id: str) -> list[Point]:
    found = points(s.journal.log.read())
    index = next((i for i, point in enumerate(found) if point.event_id == event_id), None)
    if index is None:
        raise InvalidParams(f"eventId: {event_id} is no prompt of this session: see listRewindPoints")
    return found[index:]


def _changes(since: Iterable[Point]) -> list[FileCaptured]:
    return [change for point in since for change in point.changes]


def _skipped(files: Iterable[FileRestore]) -> list[SkippedFile]:
    return [SkippedFile(clean(str(file.path)), file.skip) for file in files if file.skip and not file.is_done]


def _untracked(s: "Session", since: Iterable[Point]) -> list[str]:
    """The tools called since that may have changed files behind our back; an unknown one may, too."""
    called = {name for point in since for name in point.tools} - TRACKED
    return sorted(name for name in called if not ((tool := s.tools.find(name)) and tool.read_only))
