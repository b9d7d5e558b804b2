"""One tool call, from the model's request to its one result."""

import logging
from typing import TYPE_CHECKING, Any

import msgspec

from turnwright.engine.hooks import HookFailed, PostToolUse, PreToolUse
from turnwright.engine.permissions.permissions import ALLOWED
from turnwright.engine.tool_calls.result_pictures import with_fit_pictures
from turnwright.errors import InvalidParams, TurnwrightError
from turnwright.protocol import wire
from turnwright.protocol.events.session import Info
from turnwright.protocol.events.tools import FileEdited, ToolComplete, ToolFailure, ToolSuccess
from turnwright.protocol.messages import ToolCall
from turnwright.protocol.permissions import CustomTool
from turnwright.store.history import INTERRUPTED
from turnwright.tools.base import FileEdit, ToolResult, failure

if TYPE_CHECKING:
    from turnwright.engine.session import Session

log = logging.getLogger(__name__)


def decode_arguments(text: str) -> dict[str, Any] | None:
    """The call's arguments as an object; an empty text is none; None when they aren't a JSON object."""
    if not text.strip():
        return {}
    try:
        value = wire.loads(text)
    except InvalidParams:
        return None
    return value if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType]


async def run_tool(s: "Session", call: ToolCall, arguments: dict[str, Any] | None) -> None:
    """Carry a call out and log its result, whatever happens; a failure is data for the model.

    `arguments` are the call's as `decode_arguments` gives them.
    """
    try:
        result = await _attempt(s, call, arguments)
    except InvalidParams as error:
        result = failure(f"The arguments of {call.name} are wrong: {error}", code="invalid_arguments")
    except TurnwrightError as error:
        result = failure(str(error))
    except Exception:  # a tool's bug is the model's news, never the end of the run
        log.exception("tool %s failed", call.name)
        result = failure(f"Tool '{call.name}' failed with an internal error.")
    await give(s, call.id, result)


async def give(s: "Session", call_id: str, result: ToolResult) -> None:
    """Log what a call gave, in a form that can be sent to the model and kept."""
    if result.images:
        result = await with_fit_pictures(result, s.choice.pictures)
    finish(s, call_id, s.secrets.mask_result(result))


def finish(s: "Session", call_id: str, result: ToolResult) -> None:
    """Log a call's one result, and what follows from it."""
    s.emit(complete(s, call_id, result))
    for event in result.events:
        s.emit(event)


async def _attempt(s: "Session", call: ToolCall, arguments: dict[str, Any] | None) -> ToolResult:
    if arguments is None:
        wrong = failure(
            "The arguments of this call are not a JSON object. Send the call again with valid JSON."
        )
        return await _after(s, call.name, call.arguments, wrong)
    if not s.hooks:
        return await _after(s, call.name, arguments, await _carried_out(s, call, arguments, None))
    try:
        decided = await s.hooks.invoke(
            "preToolUse", PreToolUse, s.cwd, {"toolName": call.name, "toolArgs": _shown(arguments)}
        )
    except HookFailed as error:
        return failure(f"Denied because the {error}", code="denied")
    if decided.modified_args is not None:
        arguments = decided.modified_args
    if decided.permission_decision == "deny":
        reason = decided.permission_decision_reason or "No reason provided"
        return failure(f"Denied by preToolUse hook: {reason}", kind="denied", code="denied")
    result = await _carried_out(s, call, arguments, decided.permission_decision)
    result = await _after(s, call.name, arguments, result)
    result = _with_context(result, decided.additional_context)
    return msgspec.structs.replace(
        result,
        modified_arguments=None if decided.modified_args is None else arguments,
        hidden=bool(result.hidden or decided.suppress_output),
    )


async def _carried_out(
    s: "Session", call: ToolCall, arguments: dict[str, Any], hook: str | None
) -> ToolResult:
    tool = s.tools.find(call.name)
    if tool is None:
        return failure(f"Tool '{call.name}' does not exist.", code="failure")
    name = tool.definition.name
    if s.mode == "plan" and not tool.read_only and not s.may_plan_with(name, arguments):
        return failure(
            f"'{name}' is refused in plan mode: nothing may be changed until the plan is approved. "
            "Finish the plan, then call exit_plan_mode.",
            code="denied",
        )
    invocation = s.invocation(call.id, arguments)
    request = tool.permission(invocation)
    if request is None and hook == "ask":
        request = CustomTool(name, tool.definition.description, arguments)
    verdict = ALLOWED
    if request is not None:
        request.tool_call_id = call.id
        verdict = await s.permit(request, hook)
    if not verdict.allowed:
        kind = "rejected" if verdict.code == "rejected" else "denied"
        return failure(verdict.message, kind=kind, code=verdict.code)
    result = await tool.run(invocation)
    for edit in result.edits:
        s.emit(Info("file_created" if edit.kind == "create" else "file_updated", edit.path))
    if tool.terminal and result.ok:
        s.run.over = True
    return result


async def _after(s: "Session", name: str, arguments: dict[str, Any] | str, result: ToolResult) -> ToolResult:
    """Let the post hooks change the result or add to it; a hook that fails changes nothing."""
    if result.kind == "rejected":
        s.run.over = s.run.rejected = True
    if result.kind in ("rejected", "denied") or not s.hooks:
        return result
    fields = {"toolName": name, "toolArgs": _shown(arguments)}
    if result.ok:
        given = {"resultType": result.kind, "textResultForLlm": result.text}
        changed = await s.hooks.notify("postToolUse", PostToolUse, s.cwd, {**fields, "toolResult": given})
    else:
        error = result.error or result.text
        changed = await s.hooks.notify("postToolUseFailure", PostToolUse, s.cwd, {**fields, "error": error})
    if changed.suppress_output:
        result = msgspec.structs.replace(result, hidden=True)
    if changed.modified_result is not None and result.ok:
        result = _replaced(result, changed.modified_result)
    return _with_context(result, changed.additional_context)


def _replaced(result: ToolResult, modified: Any) -> ToolResult:
    text: Any = modified
    if isinstance(modified, dict):
        text = modified.get("textResultForLlm")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(text, str):
        log.warning("a postToolUse hook's modifiedResult has no text: it is ignored")
        return result
    return _with(result, text)


def _with_context(result: ToolResult, context: str | None) -> ToolResult:
    return _with(result, f"{result.text}\n\n{context}") if context else result


def _with(result: ToolResult, text: str) -> ToolResult:
    return msgspec.structs.replace(result, text=text, error=result.error if result.ok else text)


def complete(s: "Session", call_id: str, result: ToolResult) -> ToolComplete:
    """The event for a result."""
    done = ToolComplete(
        call_id,
        result.ok,
        model=s.model,
        interaction_id=s.run.interaction_id,
        turn_id=s.run.turn_id,
        tool_telemetry=_telemetry(result),
        modified_arguments=result.modified_arguments,
    )
    if result.ok:
        images = [{"type": "image", "mimeType": i.mime_type, "data": i.data} for i in result.images]
        detail = None if result.hidden else result.detail or result.text
        done.result = ToolSuccess(result.text, detail, images or None)
    else:
        done.error = ToolFailure(result.text, result.error_code or "failure")
    if result.edits:
        done.file_edits = [FileEdited(edit.path, edit.kind) for edit in result.edits]
    return done


def interrupted() -> ToolResult:
    """The result of a call that an abort or a crash cut off."""
    return failure(INTERRUPTED, code="interrupted")


def _telemetry(result: ToolResult) -> dict[str, Any]:
    telemetry = dict(result.telemetry or {})
    if result.edits:
        telemetry["metrics"] = {**telemetry.get("metrics", {}), **_lines(result.edits)}
    return telemetry


def _lines(edits: tuple[FileEdit, ...]) -> dict[str, int]:
    return {
        "linesAdded": sum(edit.lines_added for edit in edits),
        "linesRemoved": sum(edit.lines_removed for edit in edits),
    }


def _shown(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else wire.encode(arguments).decode()
