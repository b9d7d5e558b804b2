"""Answers to permission questions, and what is allowed without asking."""

from typing import Any, Literal

from turnwright.engine.permissions.permissions import Decision
from turnwright.engine.session import Session
from turnwright.server.methods.base import Methods, SessionParams

methods = Methods()
METHODS = methods.table


class PermissionAnswerParams(SessionParams):
    """A decision."""

    request_id: str
    result: Decision


@methods.session("session.permissions.handlePendingPermissionRequest", PermissionAnswerParams, inline=True)
async def answer(session: Session, params: PermissionAnswerParams) -> dict[str, bool]:
    """Settle a question; false when it is gone. A kind that nobody knows is a denial."""
    if params.result.kind == "no-result":
        return {"success": params.request_id in session.questions}
    return {"success": session.questions.answer(params.request_id, params.result)}


class ApproveAllParams(SessionParams):
    """On or off."""

    enabled: bool


@methods.session("session.permissions.setApproveAll", ApproveAllParams)
async def approve_all(session: Session, params: ApproveAllParams) -> dict[str, bool]:
    """Allow everything without asking, or ask again."""
    session.permissions.approve_all = params.enabled
    return {"success": True}


@methods.session("session.permissions.resetSessionApprovals", SessionParams)
async def reset(session: Session, params: SessionParams) -> dict[str, bool]:
    """Forget what was allowed for the session."""
    session.permissions.approvals.reset()
    return {"success": True}


class ModeParams(SessionParams):
    """Ask before what isn't allowed yet, or allow everything."""

    mode: Literal["manual", "allow-all"]


@methods.session("session.permissions.setMode", ModeParams)
async def set_mode(session: Session, params: ModeParams) -> dict[str, Any]:
    """Allow everything without asking, or ask again; rules that deny hold in both modes."""
    session.permissions.approve_all = params.mode == "allow-all"
    return {"success": True, "mode": _mode(session)}


@methods.session("session.permissions.getMode", SessionParams)
async def get_mode(session: Session, params: SessionParams) -> dict[str, str]:
    """Whether everything is allowed without asking."""
    return {"mode": _mode(session)}


def _mode(session: Session) -> str:
    return "allow-all" if session.permissions.approve_all else "manual"
