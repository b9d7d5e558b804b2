"""The diff of a session's workspace: by git, or by what the session kept track of."""

from typing import TYPE_CHECKING

import anyio.to_thread

from turnwright.engine.changes.git import Git
from turnwright.engine.changes.git_changes import checkout
from turnwright.engine.changes.session_changes import session_changes
from turnwright.engine.rewind.points import points
from turnwright.engine.rewind.restoring import plan
from turnwright.engine.rewind.truncate import is_at_work
from turnwright.errors import GitError
from turnwright.protocol.rewind import Unavailable
from turnwright.protocol.workspace import DiffMode, FileDiff, WorkspaceDiff

if TYPE_CHECKING:
    from turnwright.engine.session import Session


async def workspace_diff(s: "Session", mode: DiffMode, *, ignore_whitespace: bool) -> WorkspaceDiff:
    """What has changed: since git's index, since the branch left the default one, or by the session's tools.

    What can't be had falls back on the first. Where there is no git, or no checkout, it raises GitError, but
    gives the reason alone when that is why the session's own changes can't be had.
    """
    reason: Unavailable | None = None
    if mode == "session":
        reason = _unavailable(s)
        if reason is None:
            return WorkspaceDiff(mode, mode, await _by_the_session(s), is_fallback=False)
    try:
        found = await checkout(Git(s.cwd, s.tool_environment))
    except GitError:
        if reason is None:
            raise
        return WorkspaceDiff(mode, mode, [], is_fallback=False, unavailable_reason=reason)
    base: str | None = None
    if mode == "branch":
        try:
            base = await found.default_branch()
            changes = await found.changes(await found.fork_point(base), ignore_whitespace=ignore_whitespace)
            return WorkspaceDiff(mode, mode, changes, is_fallback=False, base_branch=base)
        except GitError:
            pass  # an unborn branch, or one that has nothing in common with the other
    changes = await found.changes(None, ignore_whitespace=ignore_whitespace)
    return WorkspaceDiff(
        mode,
        "unstaged",
        changes,
        is_fallback=mode != "unstaged",
        base_branch=base,
        unavailable_reason=reason,
    )


def _unavailable(s: "Session") -> Unavailable | None:
    if not s.journal.state.tracks_files:
        return "file-change-tracking-disabled"
    return "session-busy" if is_at_work(s) else None


async def _by_the_session(s: "Session") -> list[FileDiff]:
    changes = [change for point in points(s.journal.log.read()) for change in point.changes]

    def compare() -> list[FileDiff]:
        return session_changes(plan(changes, s.capture.kept), s.capture.kept, s.cwd)

    return await anyio.to_thread.run_sync(compare)
