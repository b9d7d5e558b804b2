"""What an app may answer for: permissions, questions, plans and hooks."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypedDict

import msgspec

from turnwright.protocol.permissions import PermissionRequest
from turnwright.protocol.wire import Wire


class Invocation(msgspec.Struct, frozen=True):
    """Where a question comes from; the ids are None where the wire doesn't tell."""

    session_id: str
    request_id: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None


DecisionKind = Literal[
    "approve-once",
    "approve-for-session",
    "approve-for-location",
    "approve-permanently",
    "reject",
    "user-not-available",
    "no-result",
]
"""`no-result` leaves the question open, for another client."""


class PermissionDecision(Wire):
    """An answer to a permission question; `approval` is what to remember, by default what was asked."""

    kind: DecisionKind
    feedback: str | None = None
    approval: Any = None
    location_key: str | None = None
    domain: str | None = None


async def approve_all(request: PermissionRequest, invocation: Invocation) -> DecisionKind:
    """Allow everything, each time."""
    return "approve-once"


def reject(feedback: str | None = None) -> PermissionDecision:
    """The user's no, which ends the run; the model reads `feedback`."""
    return PermissionDecision("reject", feedback)


class UserQuestion(Wire):
    """A question of the model's to the user."""

    question: str
    choices: list[str] = msgspec.field(default_factory=list[str])
    allow_freeform: bool = True


class UserAnswer(Wire):
    """The user's answer: one of the choices, or the user's own words."""

    answer: str
    was_freeform: bool = False


class Plan(Wire):
    """A plan that the model wants approved; `actions` are ways to go on."""

    summary: str
    plan_content: str = ""
    actions: list[str] = msgspec.field(default_factory=list[str])
    recommended_action: str | None = None


class PlanDecision(Wire):
    """The user's word on a plan."""

    approved: bool
    selected_action: str | None = None
    auto_approve_edits: bool | None = None
    feedback: str | None = None


_Decided = DecisionKind | PermissionDecision
_Answered = str | UserAnswer
_Planned = bool | PlanDecision
_Noted = Mapping[str, Any] | None

PermissionHandler = Callable[[PermissionRequest, Invocation], _Decided | Awaitable[_Decided]]
UserInputHandler = Callable[[UserQuestion, Invocation], _Answered | Awaitable[_Answered]]
PlanHandler = Callable[[Plan, Invocation], _Planned | Awaitable[_Planned]]
Hook = Callable[[dict[str, Any], Invocation], _Noted | Awaitable[_Noted]]


class Hooks(TypedDict, total=False):
    """Functions that are called around what the session does.

    Each takes the wire's input and returns its output, both with names in Python's spelling
    (`permission_decision`, `modified_args`), or None to change nothing.
    """

    pre_tool_use: Hook
    post_tool_use: Hook
    post_tool_use_failure: Hook
    user_prompt_submitted: Hook
    user_prompt_transformed: Hook
    session_start: Hook
    session_end: Hook
    error_occurred: Hook
    agent_stop: Hook
