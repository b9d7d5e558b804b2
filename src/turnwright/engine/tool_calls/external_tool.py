"""A tool of the app: the runtime asks, a client runs it and answers."""

from typing import Any

from turnwright.engine.questions.questions import Questions
from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.events.questions import ExternalToolCompleted, ExternalToolRequested
from turnwright.protocol.messages import Image, ToolDefinition
from turnwright.protocol.options import ToolSpec
from turnwright.protocol.permissions import CustomTool, PermissionRequest
from turnwright.protocol.wire import Wire
from turnwright.tools.base import Call, ResultType, ToolResult, failure

EMPTY_SCHEMA: dict[str, object] = {"type": "object", "properties": {}}


class Binary(Wire):
    """A picture or a resource in a client's result; `data` is base64."""

    data: str
    mime_type: str
    type: str = "image"
    description: str | None = None


class Result(Wire):
    """A client's result, in the wire's shape."""

    text_result_for_llm: str
    result_type: ResultType = "success"
    error: str | None = None
    session_log: str | None = None
    binary_results_for_llm: list[Binary] | None = None
    tool_telemetry: dict[str, Any] | None = None


class Answer(Wire):
    """What `session.tools.handlePendingToolCall` brings: a result, a bare string, or an error."""

    result: Any = None
    error: str | None = None


class ExternalTool:
    """A tool that a client declared."""

    read_only = False

    def __init__(self, spec: ToolSpec, session_id: str, questions: Questions) -> None:
        self.terminal = spec.is_terminal
        self._spec = spec
        self._session_id = session_id
        self._questions = questions
        self.definition = ToolDefinition(spec.name, spec.description, spec.parameters or EMPTY_SCHEMA)

    def permission(self, call: Call) -> PermissionRequest | None:
        if self._spec.skip_permission:
            return None
        return CustomTool(self._spec.name, self._spec.description, call.arguments, call.id)

    async def run(self, call: Call) -> ToolResult:
        request_id = wire.new_id()
        requested = ExternalToolRequested(
            request_id, self._session_id, call.id, self._spec.name, call.arguments, str(call.cwd)
        )
        return await wait_for(self._questions, requested, new=True)


async def wait_for(questions: Questions, requested: ExternalToolRequested, *, new: bool) -> ToolResult:
    """Wait for a client's answer, to a `new` question or to one that the log holds as pending.

    What the handler of a tool raised is the app's own business: the model learns only that it failed.
    """
    request_id = requested.request_id
    answer: Answer = await questions.ask(
        request_id, requested if new else None, lambda _: ExternalToolCompleted(request_id)
    )
    if answer.error is None:
        return tool_result(answer.result)
    arguments = wire.encode(requested.arguments or {}).decode()
    return failure(
        f"Failed to execute `{requested.tool_name}` tool with arguments: {arguments} "
        "due to error: Error: Tool execution failed"
    )


def tool_result(value: Any) -> ToolResult:
    """What a client's result means to the model; one of no known shape is shown as JSON."""
    if isinstance(value, str):
        return ToolResult(value, detail=value)
    try:
        found = wire.convert(value, Result)
    except InvalidParams:
        text = wire.encode(value).decode()
        return ToolResult(text, detail=text)
    images = tuple(
        Image(part.mime_type, part.data)
        for part in found.binary_results_for_llm or ()
        if part.mime_type.startswith("image/")
    )
    return ToolResult(
        found.text_result_for_llm,
        kind=found.result_type,
        detail=found.session_log or found.text_result_for_llm,
        error=None if found.result_type == "success" else found.error or found.text_result_for_llm,
        error_code=None if found.result_type == "success" else found.result_type,
        images=images,
        telemetry=found.tool_telemetry,
    )
