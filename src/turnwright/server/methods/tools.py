"""Answers to tool calls that a client runs."""

from typing import Any

from turnwright.engine.external_tool import Answer
from turnwright.engine.session import Session
from turnwright.server.methods.base import Methods, SessionParams

methods = Methods()
METHODS = methods.table


class ToolAnswerParams(SessionParams):
    """A tool's result, or why there is none."""

    request_id: str
    result: Any = None
    error: str | None = None


@methods.session("session.tools.handlePendingToolCall", ToolAnswerParams, inline=True)
async def answer(session: Session, params: ToolAnswerParams) -> dict[str, bool]:
    """Settle a call; false when nobody waits for it any more."""
    found = Answer(params.result, params.error)
    return {"success": session.questions.answer(params.request_id, found)}
