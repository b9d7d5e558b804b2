"""Tools: what is on offer, and answers to calls that a client runs."""

from typing import TYPE_CHECKING, Any

from turnwright.engine.session import Session
from turnwright.engine.tool_calls.external_tool import Answer
from turnwright.protocol.events.session import ToolsUpdated
from turnwright.protocol.wire import Wire
from turnwright.server.methods.base import Methods, SessionParams

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

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


@methods.session("session.tools.getCurrentMetadata", SessionParams)
async def current(session: Session, params: SessionParams) -> dict[str, Any]:
    """The tools that the model is offered; null before they were settled."""
    if not session.offer.size:
        return {"tools": None}
    return {
        "tools": [
            {"name": d.name, "description": d.description, "input_schema": d.parameters}
            for d in session.tools.definitions
        ]
    }


@methods.session("session.tools.initializeAndValidate", SessionParams)
async def initialize(session: Session, params: SessionParams) -> dict[str, Any]:
    """Settle the tools now, not before the first model call. Fails when there is no model."""
    await session.choice.settle()
    if session.offer.settle():
        session.emit(ToolsUpdated(session.model))
    return {}


class ListParams(Wire):
    """For which model; the tools are the same for all."""

    model: str | None = None


@methods.runtime("tools.list", ListParams)
async def listing(connection: "Connection", params: ListParams) -> dict[str, Any]:
    """The runtime's own tools, which every session starts with."""
    definitions = [tool.definition for tool in connection.runtime.tools]
    return {
        "tools": [
            {"name": d.name, "description": d.description, "parameters": d.parameters} for d in definitions
        ]
    }
