"""What has changed in a workspace, as it is told on the wire."""

from typing import Literal

from turnwright.protocol.rewind import Unavailable
from turnwright.protocol.wire import Wire

ChangeType = Literal["added", "deleted", "modified", "renamed"]
DiffMode = Literal["unstaged", "branch", "session"]


class FileDiff(Wire):
    """A changed file, its path relative to the working directory. A diff that is too long is left out."""

    path: str
    diff: str
    change_type: ChangeType
    old_path: str | None = None
    is_truncated: bool | None = None


class WorkspaceDiff(Wire):
    """The changed files by path, and how they were found; what can't be had falls back on `unstaged`."""

    requested_mode: DiffMode
    mode: DiffMode
    changes: list[FileDiff]
    is_fallback: bool
    base_branch: str | None = None
    unavailable_reason: Unavailable | None = None
