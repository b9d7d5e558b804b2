"""Going back to an earlier prompt, as it is told on the wire; paths are absolute."""

from typing import Literal

import msgspec

from turnwright.protocol.wire import Wire

RewindMode = Literal["conversation", "conversation-and-files"]
Unavailable = Literal["file-change-tracking-disabled", "session-busy"]
Outcome = Literal[
    "success",
    "session-busy",
    "file-change-tracking-disabled",
    "files-rolled-back",
    "rollback-incomplete",
    "truncation-failed",
    "checkpoint-cleanup-failed",
    "snapshot-prune-failed",
]


class RewindPoint(Wire):
    """A prompt to go back to; `event_id` is the first event that goes.

    `file_count` is of all files that were changed since; lines are those of this prompt's run alone.
    """

    event_id: str
    user_message: str
    timestamp: str
    can_restore_files: bool
    file_count: int
    turn_changed_files: bool
    lines_added: int
    lines_removed: int
    is_autopilot_continuation: bool


class RewindPoints(Wire):
    """The prompts of a session, oldest first; none when they can't be told now."""

    file_change_tracking_enabled: bool
    points: list[RewindPoint]
    unavailable_reason: Unavailable | None = None


class FilePreview(Wire):
    """A file that would be put back; what was done to it since."""

    path: str
    change_type: Literal["created", "deleted", "modified"]
    lines_added: int
    lines_removed: int


class SkippedFile(Wire):
    """A file that is left alone: what it was is not kept, or somebody else has changed it since."""

    path: str
    reason: Literal["skipped-capture", "user-modified"]


class RewindPreview(Wire):
    """What going back would do to files.

    `skipped_files` would be left alone; `untracked_tools` were called since and may have changed files that
    nobody keeps track of, such as a shell.
    """

    available: bool
    file_count: int
    files: list[FilePreview]
    reason: Unavailable | None = None
    skipped_files: list[SkippedFile] = msgspec.field(default_factory=list[SkippedFile])
    untracked_tools: list[str] = msgspec.field(default_factory=list[str])


class RewindResult(Wire):
    """What going back did: `error` says what failed; without `events_removed` the conversation stayed."""

    outcome: Outcome
    restored_files: list[str]
    skipped_files: list[SkippedFile]
    error: str | None = None
    events_removed: int | None = None
