"""What was sent to a session and waits for its turn."""

from typing import Any

from turnwright.engine.inbox import Prompt, QueuedCommand
from turnwright.engine.session import Session
from turnwright.protocol.events.session import PendingMessagesModified
from turnwright.server.methods.base import Methods, SessionParams

methods = Methods()
METHODS = methods.table


@methods.session("session.queue.pendingItems", SessionParams)
async def pending(session: Session, params: SessionParams) -> dict[str, Any]:
    """The queue, what is next first, and the messages for the run in hand."""
    shown = [_item(item) for item in session.inbox.queued]
    return {
        "items": [item for item in shown if item is not None],
        "steeringMessages": [prompt.text or "" for prompt in session.inbox.steering],
    }


@methods.session("session.queue.removeMostRecent", SessionParams)
async def remove_last(session: Session, params: SessionParams) -> dict[str, bool]:
    """Take back what was sent last and wasn't begun: steering first, then the queue's end."""
    removed = session.inbox.remove_last()
    if removed:
        session.emit(PendingMessagesModified())
    return {"removed": removed}


@methods.session("session.queue.clear", SessionParams)
async def clear(session: Session, params: SessionParams) -> None:
    """Take back everything that wasn't begun."""
    session.inbox.clear()
    session.emit(PendingMessagesModified())


def _item(item: Prompt | QueuedCommand) -> dict[str, str] | None:
    if isinstance(item, QueuedCommand):
        return {"id": item.id, "kind": "command", "displayText": item.text, "agentMode": "interactive"}
    if item.text is None:
        return None
    mode = item.agent_mode or "interactive"
    return {"id": item.message_id, "kind": "message", "displayText": item.text, "agentMode": mode}
