"""What was said, shortened: truncate, rewind, compact."""

from typing import Any

from turnwright.engine import checkpoints
from turnwright.engine.context_clearing import clear_context
from turnwright.engine.handoff import hand_off
from turnwright.engine.rewind import rewind as going_back
from turnwright.engine.rewind.truncate import truncate as cut
from turnwright.engine.session import Session
from turnwright.protocol.rewind import RewindMode, RewindPoints, RewindPreview, RewindResult
from turnwright.server.methods.base import Methods, SessionParams

methods = Methods()
METHODS = methods.table


class TruncateParams(SessionParams):
    """The first event to go."""

    event_id: str


@methods.session("session.history.truncate", TruncateParams)
async def truncate(session: Session, params: TruncateParams) -> dict[str, Any]:
    """Cut the log off just before an event."""
    removed = {"eventsRemoved": cut(session, params.event_id)}
    try:
        checkpoints.prune(session.folder, session.journal.state.compactions)
    except OSError as error:
        return {**removed, "checkpointCleanupFailed": True, "checkpointCleanupError": error.strerror}
    return {**removed, "checkpointCleanupFailed": False}


@methods.session("session.history.listRewindPoints", SessionParams)
async def list_rewind_points(session: Session, params: SessionParams) -> RewindPoints:
    """The prompts that the session can go back to, oldest first."""
    return going_back.rewind_points(session)


class PreviewParams(SessionParams):
    """The prompt to go back to: its event is the first to go."""

    event_id: str


@methods.session("session.history.previewRewind", PreviewParams)
async def preview_rewind(session: Session, params: PreviewParams) -> RewindPreview:
    """What going back would do to files, and which were changed by others since."""
    return await going_back.preview(session, params.event_id)


class RewindParams(PreviewParams):
    """How far to go back, with or without the files; `overwrite_modified` takes back others' changes too."""

    mode: RewindMode
    overwrite_modified: bool = False


@methods.session("session.history.rewind", RewindParams)
async def rewind(session: Session, params: RewindParams) -> RewindResult:
    """Go back to before a prompt: first the files that tools changed since, then the conversation."""
    return await going_back.rewind(
        session, params.event_id, params.mode, overwrite_modified=params.overwrite_modified
    )


class ClearParams(SessionParams):
    """The first message of the conversation that begins."""

    prompt: str


@methods.session("session.history.clearContext", ClearParams)
async def clear(session: Session, params: ClearParams) -> dict[str, int]:
    """Let the conversation begin anew, from inside of a tool's handler; the log keeps everything."""
    return {"messagesCleared": clear_context(session, params.prompt)}


class CompactParams(SessionParams):
    """What the summary should mind besides."""

    custom_instructions: str | None = None


@methods.session("session.history.compact", CompactParams)
async def compact(session: Session, params: CompactParams) -> dict[str, Any]:
    """Have the conversation summarised now; one that is under way is waited for instead."""
    session.offer.settle()
    done = await session.compaction.run("manual", params.custom_instructions)
    sizes = session.context_sizes()
    window = {
        "tokenLimit": sizes.limit,
        "currentTokens": sizes.total,
        "messagesLength": len(session.journal.history.messages),
        "systemTokens": sizes.system,
        "conversationTokens": sizes.conversation,
        "toolDefinitionsTokens": sizes.tools,
    }
    found = {
        "success": done is None or done.success,
        "tokensRemoved": (done and done.tokens_removed) or 0,
        "messagesRemoved": (done and done.messages_removed) or 0,
        "summaryContent": done and done.summary_content,
        "error": done and done.error,
        "contextWindow": window,
    }
    return {name: value for name, value in found.items() if value is not None}


@methods.session("session.history.summarizeForHandoff", SessionParams)
async def summarize_for_handoff(session: Session, params: SessionParams) -> dict[str, str]:
    """Have the conversation summarised for somebody else, while it stays as it is; empty without one."""
    session.offer.settle()
    return {"summary": await hand_off(session)}


@methods.session("session.history.cancelBackgroundCompaction", SessionParams)
async def cancel_background(session: Session, params: SessionParams) -> dict[str, bool]:
    """Give up a summary that is being written."""
    return {"cancelled": session.compaction.cancel()}


@methods.session("session.history.abortManualCompaction", SessionParams)
async def abort_manual(session: Session, params: SessionParams) -> dict[str, bool]:
    """Give up a summary that is being written."""
    return {"aborted": session.compaction.cancel()}
