"""Events of a session's life: start, resume, mode, model, errors, idle, end."""

from typing import Any, Literal

from turnwright.protocol.events.base import Data, event
from turnwright.protocol.events.limits import SessionLimits
from turnwright.protocol.wire import Wire

Mode = Literal["interactive", "plan", "autopilot"]


class Context(Wire):
    """Where a session works; the git fields only inside a checkout."""

    cwd: str
    git_root: str | None = None
    repository: str | None = None
    host_type: str | None = None
    repository_host: str | None = None
    branch: str | None = None
    head_commit: str | None = None
    base_commit: str | None = None


@event("session.start")
class SessionStart(Data):
    """The first event of every log; `version` is the log format's.

    With `file_change_tracking`, what tools change in files is kept track of from here on.
    """

    session_id: str
    version: int
    producer: str
    copilot_version: str
    start_time: str
    context_tier: str | None
    context: Context
    already_in_use: bool
    remote_steerable: bool
    selected_model: str | None = None
    reasoning_effort: str | None = None
    session_limits: SessionLimits | None = None
    client_name: str | None = None
    file_change_tracking: bool | None = None


@event("session.resume")
class SessionResume(Data):
    """A client took the session up again; counts are of the log before this event.

    With `file_change_tracking`, what tools change in files is kept track of from here on.
    """

    resume_time: str
    event_count: int
    context_tier: str | None
    context: Context
    already_in_use: bool
    remote_steerable: bool
    session_was_active: bool
    continue_pending_work: bool
    events_file_size_bytes: int | None = None
    selected_model: str | None = None
    reasoning_effort: str | None = None
    session_limits: SessionLimits | None = None
    file_change_tracking: bool | None = None


@event("session.model_change")
class ModelChange(Data):
    """The model that answers from here on."""

    new_model: str
    previous_model: str | None = None
    reasoning_effort: str | None = None
    cause: str | None = None


@event("session.mode_changed")
class ModeChanged(Data):
    """The session's mode from here on."""

    previous_mode: Mode
    new_mode: Mode


@event("session.title_changed", ephemeral=True)
class TitleChanged(Data):
    """The session's name, as people see it; logged when it is a name that nobody chose."""

    title: str


@event("session.renamed")
class Renamed(Data):
    """A person named the session."""

    name: str


@event("session.context_changed")
class ContextChanged(Context, Data):
    """The working directory or its checkout changed."""


@event("session.tools_updated", ephemeral=True)
class ToolsUpdated(Data):
    """The tools on offer were settled for this model."""

    model: str


@event("session.skills_loaded", ephemeral=True)
class SkillsLoaded(Data):
    """The skills on offer."""

    skills: list[Any]


@event("session.info", ephemeral=True)
class Info(Data):
    """Something worth showing to people."""

    info_type: str
    message: str


@event("session.warning")
class Warned(Data):
    """Something people should know."""

    warning_type: str
    message: str


@event("session.error")
class SessionError(Data):
    """A run failed; `message` is one sentence for the user."""

    error_type: str
    message: str
    status_code: int | None = None
    provider_call_id: str | None = None
    error_code: str | None = None
    eligible_for_auto_switch: bool | None = None


@event("session.idle", ephemeral=True)
class Idle(Data):
    """Nothing is queued and nothing runs: ready for the next message."""

    aborted: bool | None = None


@event("assistant.idle", ephemeral=True)
class AssistantIdle(Data):
    """The main loop is done; background work may go on."""

    aborted: bool | None = None


@event("session.task_complete")
class TaskComplete(Data):
    """The model judged the whole task as done."""

    success: bool
    summary: str | None = None


@event("session.autopilot_stopped")
class AutopilotStopped(Data):
    """Autopilot gave up nudging."""

    reason: str


@event("session.plan_changed")
class PlanChanged(Data):
    """The plan file was written or removed."""

    operation: Literal["create", "update", "delete"]


@event("session.workspace_file_changed")
class WorkspaceFileChanged(Data):
    """A file of the session's workspace was written."""

    path: str
    operation: Literal["create", "update"]


@event("session.snapshot_rewind", ephemeral=True)
class SnapshotRewind(Data):
    """The log was cut back to just before an event."""

    up_to_event_id: str
    events_removed: int


@event("session.usage_info", ephemeral=True)
class UsageInfo(Data):
    """How full the context window is, before a model call; counts are tokens, estimated."""

    token_limit: int
    current_tokens: int
    messages_length: int
    system_tokens: int | None = None
    conversation_tokens: int | None = None
    tool_definitions_tokens: int | None = None
    is_initial: bool | None = None


@event("session.usage_record")
class UsageRecord(Data):
    """What one model call cost; one for each reply."""

    usage: Any


@event("session.state_record")
class StateRecord(Data):
    """What all events so far have come to, logged after each summary: a long log is resumed from there."""

    state: Any


class CodeChanges(Wire):
    """Lines and files that tools changed, over the whole session."""

    lines_added: int
    lines_removed: int
    files_modified: list[str]


@event("session.shutdown")
class Shutdown(Data):
    """The session was unloaded; totals are over its whole log."""

    shutdown_type: Literal["routine", "error"]
    total_premium_requests: float
    total_api_duration_ms: int
    session_start_time: int
    code_changes: CodeChanges
    model_metrics: dict[str, Any]
    total_nano_aiu: float = 0
    current_model: str | None = None
    current_tokens: int | None = None
    system_tokens: int | None = None
    conversation_tokens: int | None = None
    tool_definitions_tokens: int | None = None
    events_file_size_bytes: int | None = None
    error_reason: str | None = None


@event("pending_messages.modified", ephemeral=True)
class PendingMessagesModified(Data):
    """The queue of messages changed."""


@event("session.background_tasks_changed", ephemeral=True)
class BackgroundTasksChanged(Data):
    """Background work started or ended."""


@event("abort")
class Abort(Data):
    """A client stopped the run."""

    reason: str
