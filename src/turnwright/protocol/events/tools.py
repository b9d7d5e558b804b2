"""Events of tool calls, and of the hooks around them."""

from typing import Any

import msgspec

from turnwright.protocol.events.base import Data, event
from turnwright.protocol.wire import Wire


@event("tool.execution_start")
class ToolStart(Data):
    """A call begins."""

    tool_call_id: str
    tool_name: str
    arguments: Any = None
    turn_id: str | None = None
    model: str | None = None
    parent_tool_call_id: str | None = None
    mcp_server_name: str | None = None
    mcp_tool_name: str | None = None


@event("tool.execution_partial_result", ephemeral=True)
class ToolPartial(Data):
    """Output of a running call, as it comes."""

    tool_call_id: str
    partial_output: str


class ToolSuccess(Wire):
    """What a call gave: `content` for the model, `detailed_content` for people."""

    content: str
    detailed_content: str | None = None
    contents: list[Any] | None = None


class ToolFailure(Wire):
    """Why a call failed; the model reads `message`."""

    message: str
    code: str | None = None


class FileEdited(Wire):
    """A file that a call changed."""

    path: str
    kind: str


@event("tool.execution_complete")
class ToolComplete(Data):
    """The one result of a call. `modified_arguments` are those that a hook put in place of the model's."""

    tool_call_id: str
    success: bool
    model: str | None = None
    interaction_id: str | None = None
    turn_id: str | None = None
    result: ToolSuccess | None = None
    error: ToolFailure | None = None
    file_edits: list[FileEdited] | None = None
    tool_telemetry: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    parent_tool_call_id: str | None = None
    is_user_requested: bool | None = None
    modified_arguments: dict[str, Any] | None = None


@event("hook.start")
class HookStart(Data):
    """A hook of the client was called."""

    hook_invocation_id: str
    hook_type: str
    input: Any = None


@event("hook.end")
class HookEnd(Data):
    """A hook answered, or failed to."""

    hook_invocation_id: str
    hook_type: str
    success: bool
    output: Any = None
    error: Any = None
