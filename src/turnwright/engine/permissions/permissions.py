"""May this call be made? Rules first, then what was allowed before, then the user."""

from pathlib import Path
from typing import Any, Literal

import msgspec

from turnwright.engine.permissions.approvals import Approval, Approvals, approval_of
from turnwright.engine.permissions.rules import Rules
from turnwright.engine.questions.questions import Questions
from turnwright.protocol import permissions as kinds
from turnwright.protocol import wire
from turnwright.protocol.events.questions import PermissionCompleted, PermissionRequested, PermissionResult
from turnwright.protocol.permissions import PermissionRequest
from turnwright.protocol.wire import Wire
from turnwright.tools.paths import inside

REJECTED = "The user rejected this tool call."
UNAVAILABLE = "Permission denied and could not request permission from user"


class Decision(Wire):
    """A client's answer to a permission question, in the wire's shape."""

    kind: str
    feedback: str | None = None
    reason: str | None = None
    approval: Any = None
    location_key: str | None = None
    domain: str | None = None


class _Stored(Wire):
    request: PermissionRequest


class Verdict(msgspec.Struct, frozen=True):
    """Whether a call may be made; if not, what the model is told, and whether that ends the run."""

    allowed: bool
    message: str = ""
    code: Literal["denied", "rejected"] = "denied"


ALLOWED = Verdict(True)


class Permissions:
    """The session's permissions. With nobody to ask, only reading inside the working directory is allowed."""

    def __init__(self, questions: Questions, approvals: Approvals) -> None:
        self._questions = questions
        self.approvals = approvals
        self.rules = Rules((), ())
        self.approve_all = False

    async def check(
        self, request: PermissionRequest, *, cwd: Path, place: str, askable: bool, hook: str | None
    ) -> Verdict:
        """Decide; `askable` tells whether a client answers questions, `hook` what a hook has decided.

        A hook's `ask` is a question for the user, whatever was allowed before.
        """
        ruled = self.rules.decide(request, cwd)
        if ruled == "deny":
            return Verdict(False, "Permission denied by the rules of this session")
        if hook != "ask" and (
            self.approve_all or ruled == "allow" or hook == "allow" or self.approvals.cover(request, place)
        ):
            return ALLOWED
        if askable:
            return await self._ask(request, wire.new_id(), place)
        if isinstance(request, kinds.Read) and hook != "ask" and inside(cwd, Path(request.path)):
            return ALLOWED
        return Verdict(False, UNAVAILABLE)

    async def resume(self, requested: PermissionRequested, place: str) -> Verdict:
        """Wait for the answer to a question that the log holds as pending."""
        request = wire.convert({"request": requested.permission_request}, _Stored).request
        return await self._wait(request, requested.request_id, None, place)

    async def _ask(self, request: PermissionRequest, request_id: str, place: str) -> Verdict:
        asked = PermissionRequested(request_id, wire.builtins(request), prompt_request(request))
        return await self._wait(request, request_id, asked, place)

    async def _wait(
        self, request: PermissionRequest, request_id: str, asked: PermissionRequested | None, place: str
    ) -> Verdict:
        def completed(decision: Decision | None) -> PermissionCompleted:
            result = PermissionResult(
                settled(decision), decision and decision.feedback, decision and decision.reason
            )
            return PermissionCompleted(request_id, result, request.tool_call_id)

        decision = await self._questions.ask(request_id, asked, completed)
        return self._apply(decision, request, place)

    def _apply(self, decision: Decision, request: PermissionRequest, place: str) -> Verdict:
        match decision.kind:
            case "approve-once" | "approved":
                pass
            case "approve-for-session" | "approved-for-session":
                if decision.domain is not None:
                    self.approvals.for_session(Approval("url", domain=decision.domain))
                else:
                    self.approvals.for_session(approval_of(decision.approval, request))
            case "approve-for-location" | "approved-for-location":
                approval = approval_of(decision.approval, request)
                self.approvals.for_place(approval, decision.location_key or place)
            case "approve-permanently":
                named = Approval("url", domain=decision.domain) if decision.domain else None
                self.approvals.for_place(named or approval_of(decision.approval, request), "*")
            case "reject" | "denied-interactively-by-user":
                if decision.feedback:
                    return Verdict(False, f"{REJECTED} The user said: {decision.feedback}", "rejected")
                return Verdict(False, REJECTED, "rejected")
            case _:
                return Verdict(False, UNAVAILABLE)
        return ALLOWED


def settled(decision: Decision | None) -> str:
    """The kind that `permission.completed` carries for an answer; None is an abort."""
    if decision is None:
        return "cancelled"
    match decision.kind:
        case "approve-once" | "approved":
            return "approved"
        case "approve-for-session":
            return "approved-for-session"
        case "approve-for-location":
            return "approved-for-location"
        case "approve-permanently":
            return "approved"
        case "reject":
            return "denied-interactively-by-user"
        case "user-not-available":
            return "denied-no-approval-rule-and-could-not-request-from-user"
        case kind if kind.startswith(("approved-", "denied-")) or kind == "cancelled":
            return kind
        case _:
            return "denied-no-approval-rule-and-could-not-request-from-user"


def prompt_request(request: PermissionRequest) -> dict[str, Any]:
    """The question as people are shown it: a command line becomes kind `commands`."""
    shown: dict[str, Any] = wire.builtins(request)
    if isinstance(request, kinds.Shell):
        return {
            "kind": "commands",
            "toolCallId": request.tool_call_id,
            "fullCommandText": request.full_command_text,
            "intention": request.intention,
            "commandIdentifiers": [command.identifier for command in request.commands],
            "canOfferSessionApproval": request.can_offer_session_approval,
        }
    return shown
