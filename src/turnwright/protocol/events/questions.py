"""Events in pairs: a question that a client answers, and how it was settled."""

from typing import Any

from turnwright.protocol.events.base import Data, event
from turnwright.protocol.wire import Wire


@event("permission.requested")
class PermissionRequested(Data):
    """May this be done?"""

    request_id: str
    permission_request: Any
    prompt_request: Any = None
    resolved_by_hook: bool | None = None


class PermissionResult(Wire):
    """How a permission question was settled."""

    kind: str
    feedback: str | None = None
    reason: str | None = None


@event("permission.completed")
class PermissionCompleted(Data):
    """A permission question was settled."""

    request_id: str
    result: PermissionResult
    tool_call_id: str | None = None


@event("external_tool.requested")
class ExternalToolRequested(Data):
    """A client shall run its tool."""

    request_id: str
    session_id: str
    tool_call_id: str
    tool_name: str
    arguments: Any = None
    working_directory: str | None = None


@event("external_tool.completed")
class ExternalToolCompleted(Data):
    """A client's tool answered, or is no longer waited for."""

    request_id: str


@event("user_input.requested", ephemeral=True)
class UserInputRequested(Data):
    """The model asks the user something."""

    request_id: str
    question: str
    choices: list[str] | None = None
    allow_freeform: bool | None = None
    tool_call_id: str | None = None


@event("user_input.completed", ephemeral=True)
class UserInputCompleted(Data):
    """The user answered, or won't."""

    request_id: str
    answer: str | None = None
    was_freeform: bool | None = None


@event("exit_plan_mode.requested", ephemeral=True)
class ExitPlanModeRequested(Data):
    """The model asks for its plan to be approved."""

    request_id: str
    summary: str
    plan_content: str
    actions: list[str]
    recommended_action: str
    tool_call_id: str | None = None


@event("exit_plan_mode.completed", ephemeral=True)
class ExitPlanModeCompleted(Data):
    """The plan was approved or not."""

    request_id: str
    approved: bool | None = None
    selected_action: str | None = None
    auto_approve_edits: bool | None = None
    feedback: str | None = None


@event("auto_mode_switch.requested", ephemeral=True)
class AutoModeSwitchRequested(Data):
    """A rate limit was hit: go on with an automatic choice of model?"""

    request_id: str
    error_code: str | None = None
    retry_after_seconds: float | None = None


@event("auto_mode_switch.completed", ephemeral=True)
class AutoModeSwitchCompleted(Data):
    """The answer to that."""

    request_id: str
    response: str | None = None


@event("elicitation.requested", ephemeral=True)
class ElicitationRequested(Data):
    """The user shall fill in a form; `requested_schema` is a JSON Schema of type object."""

    request_id: str
    message: str
    requested_schema: Any = None
    mode: str | None = None
    elicitation_source: str | None = None
    tool_call_id: str | None = None


@event("elicitation.completed", ephemeral=True)
class ElicitationCompleted(Data):
    """The form was filled in, declined or put away."""

    request_id: str
    action: str | None = None
    content: dict[str, Any] | None = None
