"""Questions for the user: forms that a client lets another one show, and answers to what was asked."""

from typing import Any, Literal

from turnwright.engine.questions.asking import AUTO_MODE, AutoModeAnswer
from turnwright.engine.questions.elicitation import Form, elicit
from turnwright.engine.session import Session
from turnwright.engine.tool_calls.session_tools import PlanAnswer, UserAnswer
from turnwright.errors import InvalidParams, RequestFailed
from turnwright.protocol import wire
from turnwright.protocol.events.limits import LimitsAnswer
from turnwright.server.methods.base import Methods, SessionParams

methods = Methods()
METHODS = methods.table


class UserInputParams(SessionParams):
    """The user's answer."""

    request_id: str
    response: UserAnswer


@methods.session("session.ui.handlePendingUserInput", UserInputParams)
async def user_input(session: Session, params: UserInputParams) -> dict[str, bool]:
    """Settle a question of the model's."""
    return {"success": session.questions.answer(params.request_id, params.response)}


class ExitPlanModeParams(SessionParams):
    """The user's word on a plan."""

    request_id: str
    response: PlanAnswer


@methods.session("session.ui.handlePendingExitPlanMode", ExitPlanModeParams)
async def exit_plan_mode(session: Session, params: ExitPlanModeParams) -> dict[str, bool]:
    """Settle a question about a plan."""
    return {"success": session.questions.answer(params.request_id, params.response)}


class ElicitationParams(SessionParams):
    """A form: `requested_schema` is a JSON Schema of type object, with a property for each field."""

    message: str
    requested_schema: dict[str, Any]
    mode: Literal["form"] | None = None


@methods.session("session.ui.elicitation", ElicitationParams)
async def elicitation(session: Session, params: ElicitationParams) -> Form:
    """Show the user a form and wait for what becomes of it. Fails when no client shows forms."""
    if not session.clients.take_elicitation:
        raise RequestFailed(
            -32603,
            "Request session.ui.elicitation failed with message: "
            "Elicitation is not supported: no client of this session shows forms",
        )
    return await elicit(session, params.message, params.requested_schema, mode=params.mode)


class FormParams(SessionParams):
    """What became of a form."""

    request_id: str
    result: Form


@methods.session("session.ui.handlePendingElicitation", FormParams)
async def answer_elicitation(session: Session, params: FormParams) -> dict[str, bool]:
    """Settle a form; false when nobody waits for it any more."""
    return {"success": session.questions.answer(params.request_id, params.result)}


class AutoModeParams(SessionParams):
    """The user's word on an automatic choice of model."""

    request_id: str
    response: Literal["yes", "yes_always", "no"]


@methods.session("session.ui.handlePendingAutoModeSwitch", AutoModeParams)
async def auto_mode_switch(session: Session, params: AutoModeParams) -> dict[str, bool]:
    """Settle a question after a rate limit."""
    return {"success": session.questions.answer(params.request_id, AutoModeAnswer(params.response))}


@methods.session("session.ui.registerDirectAutoModeSwitchHandler", SessionParams)
async def register_auto_mode(session: Session, params: SessionParams) -> dict[str, str]:
    """Say that a client answers the question after a rate limit by `handlePendingAutoModeSwitch`."""
    handle = f"auto-mode-{wire.new_id()}"
    session.interests[handle] = AUTO_MODE
    return {"handle": handle}


class HandleParams(SessionParams):
    """What `registerDirectAutoModeSwitchHandler` gave."""

    handle: str


@methods.session("session.ui.unregisterDirectAutoModeSwitchHandler", HandleParams)
async def unregister_auto_mode(session: Session, params: HandleParams) -> dict[str, bool]:
    """Take that back; false when it was taken back before."""
    return {"unregistered": session.interests.pop(params.handle, None) is not None}


class LimitsParams(SessionParams):
    """What shall happen now that the session's limit is reached."""

    request_id: str
    response: LimitsAnswer


@methods.session("session.ui.handlePendingSessionLimitsExhausted", LimitsParams)
async def session_limits_exhausted(session: Session, params: LimitsParams) -> dict[str, bool]:
    """Settle the question before a model call beyond the limit. Refused without the amount that it needs."""
    answer = params.response
    if answer.action == "add" and not answer.additional_ai_credits:
        raise InvalidParams("response.additionalAiCredits: must be more than 0 for the action 'add'")
    if answer.action == "set" and answer.max_ai_credits is None:
        raise InvalidParams("response.maxAiCredits: is needed for the action 'set'")
    return {"success": session.questions.answer(params.request_id, answer)}
