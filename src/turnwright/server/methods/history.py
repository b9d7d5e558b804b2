"""What was said, shortened: truncate, compact."""

from typing import Any

from turnwright.engine.lifecycle.rewind import truncate as cut
from turnwright.engine.session import Session
from turnwright.server.methods.base import Methods, SessionParams

methods = Methods()
METHODS = methods.table


class TruncateParams(SessionParams):
    """The first event to go."""

    event_id: str


@methods.session("session.history.truncate", TruncateParams)
async def truncate(session: Session, params: TruncateParams) -> dict[str, Any]:
    """Cut the log off just before an event."""
    return {"eventsRemoved": cut(session, params.event_id), "checkpointCleanupFailed": False}


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


@methods.session("session.history.cancelBackgroundCompaction", SessionParams)
async def cancel_background(session: Session, params: SessionParams) -> dict[str, bool]:
    """Give up a summary that is being written."""
    return {"cancelled": session.compaction.cancel()}


@methods.session("session.history.abortManualCompaction", SessionParams)
async def abort_manual(session: Session, params: SessionParams) -> dict[str, bool]:
    """Give up a summary that is being written."""
    return {"aborted": session.compaction.cancel()}
