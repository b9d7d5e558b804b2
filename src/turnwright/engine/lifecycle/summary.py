"""What is told of a session when it is listed, when it is resumed and when it ends."""

from datetime import datetime
from pathlib import Path
from typing import Any

from turnwright.engine.lifecycle.checkout import context_of
from turnwright.protocol import wire
from turnwright.protocol.events.session import Context, SessionResume, Shutdown
from turnwright.protocol.options import SessionOptions
from turnwright.protocol.prices import nano_credits
from turnwright.protocol.wire import Wire
from turnwright.store.entry import Entry
from turnwright.store.state import State


class SessionMetadata(Wire):
    """A session in a list; times are ISO 8601."""

    session_id: str
    start_time: str
    modified_time: str
    is_remote: bool
    is_detached: bool
    summary: str | None = None
    name: str | None = None
    client_name: str | None = None
    context: Context | None = None


class Times(Wire):
    """The part of an entry that changes."""

    start_time: str
    modified_time: str
    summary: str | None = None


class Lifecycle(Wire):
    """What all clients are told when a session is made, changed or deleted; `type` says which."""

    type: str
    session_id: str
    metadata: Times


def lifecycle(type: str, entry: SessionMetadata) -> Lifecycle:
    """News of a session that need not be live."""
    return Lifecycle(type, entry.session_id, Times(entry.start_time, entry.modified_time, entry.summary))


def updated(session_id: str, state: State) -> Lifecycle:
    """News of a live session, after each event."""
    start = state.start.start_time if state.start else state.modified
    return Lifecycle("session.updated", session_id, Times(start, state.modified, state.name or state.title))


def metadata(session_id: str, state: State) -> SessionMetadata:
    """A session's entry in a list, from its state."""
    return listed(Entry.of(session_id, state))


def listed(entry: Entry) -> SessionMetadata:
    """A session's entry in a list."""
    return SessionMetadata(
        entry.session_id,
        entry.start,
        entry.modified,
        is_remote=False,
        is_detached=False,
        summary=entry.title,
        name=entry.title,
        client_name=entry.client_name,
        context=entry.context,
    )


def resumed(
    state: State, options: SessionOptions, *, size: int, cwd: Path, was_active: bool
) -> SessionResume:
    """The event for a client that takes a session up again; `state` and `size` are of the log before it."""
    return SessionResume(
        wire.now(),
        state.events,
        context_tier=None,
        context=context_of(cwd),
        already_in_use=False,
        remote_steerable=False,
        session_was_active=was_active,
        continue_pending_work=bool(options.continue_pending_work),
        events_file_size_bytes=size,
        selected_model=state.model,
        reasoning_effort=state.reasoning_effort,
        session_limits=options.session_limits,
        file_change_tracking=(options.enable_file_change_tracking and not state.prompts) or None,
    )


def shutdown(
    state: State, *, size: int, sizes: Any, kind: str = "routine", reason: str | None = None
) -> Shutdown:
    """The last event of a loaded session, with totals over its whole log; `sizes` are the context's."""
    start = state.start.start_time if state.start else state.modified
    return Shutdown(
        shutdown_type="error" if kind == "error" else "routine",
        total_premium_requests=state.prompts,
        total_api_duration_ms=round(state.usage.duration),
        session_start_time=milliseconds(start),
        code_changes=state.usage.code_changes(),
        model_metrics={name: totals.metrics() for name, totals in state.usage.models.items()},
        total_nano_aiu=nano_credits(state.usage.cost),
        current_model=state.model,
        current_tokens=sizes.total,
        system_tokens=sizes.system,
        conversation_tokens=sizes.conversation,
        tool_definitions_tokens=sizes.tools,
        events_file_size_bytes=size,
        error_reason=reason,
    )


def milliseconds(iso: str) -> int:
    """An ISO 8601 time as milliseconds since 1970; 0 when it isn't one."""
    try:
        return round(datetime.fromisoformat(iso).timestamp() * 1000)
    except ValueError:
        return 0
