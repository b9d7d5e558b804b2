"""Answers to questions for the user that another client was asked first."""

from turnwright.engine.session import Session
from turnwright.engine.session_tools import PlanAnswer, UserAnswer
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
