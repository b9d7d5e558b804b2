"""Tools that act on the session itself: ask the user, end the task, leave plan mode."""

from typing import Protocol

import msgspec

from turnwright.protocol import wire
from turnwright.protocol.events.session import Mode, TaskComplete
from turnwright.protocol.messages import ToolDefinition
from turnwright.protocol.permissions import PermissionRequest
from turnwright.protocol.wire import Wire
from turnwright.tools.base import Call, ToolResult, failure


class UserAnswer(Wire):
    """The user's answer to the model's question."""

    answer: str
    was_freeform: bool = False


class PlanAnswer(Wire):
    """The user's answer to a plan."""

    approved: bool
    selected_action: str | None = None
    auto_approve_edits: bool | None = None
    feedback: str | None = None
    """What the user wants changed, when the plan was not approved."""


class Asker(Protocol):
    """What these tools need of the session."""

    async def ask_user(
        self, question: str, choices: list[str] | None, allow_freeform: bool, call_id: str
    ) -> UserAnswer | None:
        """Put a question to the user; None when there is nobody to ask, or the handler failed."""
        ...

    async def ask_about_plan(
        self, summary: str, actions: list[str], recommended: str, call_id: str
    ) -> PlanAnswer | None:
        """Ask whether the plan is approved; None when there is nobody to ask."""
        ...

    def leave_plan_mode(self, mode: Mode) -> None:
        """Go on in another mode, from the next model call on."""
        ...


class _Base:
    read_only = True
    terminal = False

    def permission(self, call: Call) -> PermissionRequest | None:
        return None


class _Question(Wire):
    question: str
    choices: list[str] | None = None
    allow_freeform: bool = msgspec.field(default=True, name="allow_freeform")


class AskUser(_Base):
    """`ask_user`: the model asks, a person answers."""

    definition = ToolDefinition(
        "ask_user",
        "Ask the user a question and wait for the answer. Offer choices where the answer is one of a few.",
        {
            "type": "object",
            "properties": {
                "question": {"type": "string", "description": "The question, in one or two sentences."},
                "choices": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Answers to choose from.",
                },
                "allow_freeform": {
                    "type": "boolean",
                    "description": "Whether the user may answer in their own words; true unless you say so.",
                },
            },
            "required": ["question"],
        },
    )

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def run(self, call: Call) -> ToolResult:
        asked = wire.convert(call.arguments, _Question)
        answer = await self._asker.ask_user(asked.question, asked.choices, asked.allow_freeform, call.id)
        if answer is None:
            return failure("The user can't be asked now. Decide yourself, or say what you need to know.")
        chosen = not answer.was_freeform and answer.answer in (asked.choices or ())
        text = f"User {'selected' if chosen else 'responded'}: {answer.answer}"
        return ToolResult(text, detail=text)


class _Completion(Wire):
    summary: str = ""


class CompleteTask(_Base):
    """`task_complete`: the model's word that the whole task is done."""

    terminal = True
    definition = ToolDefinition(
        "task_complete",
        "Mark the whole task as complete. Call it only when everything that was asked for is done and "
        "checked: not with open questions, not because of an error that you haven't tried to solve, not with "
        "steps left.",
        {
            "type": "object",
            "properties": {
                "summary": {"type": "string", "description": "What was done, in a few sentences."},
            },
        },
    )

    async def run(self, call: Call) -> ToolResult:
        summary = wire.convert(call.arguments, _Completion).summary
        return ToolResult(
            summary or "Task marked as complete.",
            detail=f"✓ Task completed: {summary}" if summary else "✓ Task completed",
            events=(TaskComplete(True, summary or None),),
        )


class _Plan(Wire):
    summary: str = ""
    actions: list[str] | None = None
    recommended_action: str | None = None


PLAN_ACTIONS = ["autopilot", "interactive", "exit_only"]


class ExitPlanMode(_Base):
    """`exit_plan_mode`: the model asks for its plan to be approved."""

    definition = ToolDefinition(
        "exit_plan_mode",
        "When the plan is written down and complete, ask the user to approve it and to leave plan mode.",
        {
            "type": "object",
            "properties": {
                "summary": {"type": "string", "description": "The plan in a few sentences."},
                "actions": {
                    "type": "array",
                    "items": {"type": "string", "enum": PLAN_ACTIONS},
                    "description": "Ways to go on that the user may choose from.",
                },
                "recommendedAction": {"type": "string", "enum": PLAN_ACTIONS},
            },
            "required": ["summary"],
        },
    )

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def run(self, call: Call) -> ToolResult:
        plan = wire.convert(call.arguments, _Plan)
        actions = plan.actions or PLAN_ACTIONS
        recommended = plan.recommended_action or "interactive"
        answer = await self._asker.ask_about_plan(plan.summary, actions, recommended, call.id)
        if answer is None:
            return failure("The plan can't be shown to the user now. Stay in plan mode.")
        if not answer.approved:
            said = f" The user said: {answer.feedback}" if answer.feedback else ""
            return failure(f"The plan was not approved. You are still in plan mode: change the plan.{said}")
        mode: Mode = "autopilot" if answer.selected_action == "autopilot" else "interactive"
        self._asker.leave_plan_mode(mode)
        text = f"Plan approved! Exited plan mode.\n\nYou are now in {mode} mode. {_next(answer)}"
        return ToolResult(text, detail=text)


def _next(answer: PlanAnswer) -> str:
    if answer.selected_action == "exit_only":
        return "Don't begin yet: wait for the user."
    return (
        "Start implementing the plan now, in this same response. Approving the plan is your go-signal, so do "
        "not stop to ask whether to proceed or wait for another message."
    )
