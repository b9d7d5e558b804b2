"""After a restart: what the log left open is finished, answered as interrupted, or waited for."""

from typing import TYPE_CHECKING

import anyio

from turnwright.engine.prompts.prompt import prepare
from turnwright.engine.tool_calls.external_tool import wait_for
from turnwright.engine.tool_calls.tool_call import decode_arguments, finish, give, interrupted
from turnwright.engine.turn_end import close_turns
from turnwright.protocol.events.conversation import ToolRequest
from turnwright.protocol.events.questions import (
    ExternalToolCompleted,
    ExternalToolRequested,
    PermissionCompleted,
    PermissionRequested,
    PermissionResult,
)
from turnwright.store.history import tool_call
from turnwright.tools.base import ToolResult, failure

if TYPE_CHECKING:
    from turnwright.engine.session import Session


def repair(s: "Session") -> None:
    """Close what a crash left open: questions, calls, turns; every call has one result from here on."""
    state = s.journal.state
    for question in tuple(state.questions.values()):
        match question:
            case PermissionRequested():
                result = PermissionResult("cancelled", reason="interrupted")
                s.emit(PermissionCompleted(question.request_id, result))
            case ExternalToolRequested():
                s.emit(ExternalToolCompleted(question.request_id))
    interrupt_open_calls(s)
    close_turns(s)


def interrupt_open_calls(s: "Session") -> None:
    """Answer what an abort or a crash left open: every call has one result before its turn ends."""
    for call_id in tuple(s.journal.state.open_calls):
        finish(s, call_id, interrupted())


async def finish_open_calls(s: "Session") -> bool:
    """Wait for the answers that open calls depend on; the other calls were interrupted.

    True if there was any call: then the model must hear of the results.
    """
    state = s.journal.state
    if not state.open_calls:
        return False
    await prepare(s)
    waiting = {_call_id(question): question for question in state.questions.values()}
    requests = dict(state.open_calls)
    try:
        async with anyio.create_task_group() as group:
            for call_id, request in requests.items():
                question = waiting.get(call_id)
                if question is None:
                    finish(s, call_id, interrupted())
                else:
                    group.start_soon(_finish, s, request, question)
    finally:
        if not s.questions.leave_open:
            interrupt_open_calls(s)
            close_turns(s)
    return not s.run.over


def _call_id(question: PermissionRequested | ExternalToolRequested) -> str:
    if isinstance(question, ExternalToolRequested):
        return question.tool_call_id
    request = question.permission_request
    return str(request.get("toolCallId")) if isinstance(request, dict) else ""  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


async def _finish(
    s: "Session", request: ToolRequest, question: PermissionRequested | ExternalToolRequested
) -> None:
    if isinstance(question, ExternalToolRequested):
        result = await wait_for(s.questions, question, new=False)
    else:
        result = await _after_permission(s, request, question)
    tool = s.tools.find(request.name)
    if result.kind == "rejected" or (result.ok and tool is not None and tool.terminal):
        s.run.over = True
    await give(s, request.tool_call_id, result)


async def _after_permission(s: "Session", request: ToolRequest, question: PermissionRequested) -> ToolResult:
    verdict = await s.permissions.resume(question, s.place)
    if not verdict.allowed:
        kind = "rejected" if verdict.code == "rejected" else "denied"
        return failure(verdict.message, kind=kind, code=verdict.code)
    call = tool_call(request)
    tool = s.tools.find(call.name)
    arguments = decode_arguments(call.arguments)
    if tool is None or arguments is None:
        return failure(f"Tool '{call.name}' does not exist.")
    return await tool.run(s.invocation(call.id, arguments))
