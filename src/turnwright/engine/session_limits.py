"""A session's limits: the model is told of them, and the user is asked once they are reached."""

from typing import TYPE_CHECKING

from turnwright.engine.questions.broadcast import ask_clients
from turnwright.errors import LimitReached
from turnwright.protocol import wire
from turnwright.protocol.events.conversation import UserMessage
from turnwright.protocol.events.limits import (
    LimitsAnswer,
    LimitsExhaustedCompleted,
    LimitsExhaustedRequested,
    SessionLimits,
    SessionLimitsChanged,
)

if TYPE_CHECKING:
    from turnwright.engine.session import Session

EXHAUSTED = LimitsExhaustedRequested.event_type
EXHAUSTED_CODE = "session_limits_exhausted"
SOURCE = "session_limits"


def change(s: "Session", limits: SessionLimits | None) -> None:
    """Let other limits hold from the next model call on; None lifts them."""
    s.options.session_limits = limits
    s.emit(SessionLimitsChanged(limits))


def tell_model(s: "Session") -> None:
    """Say in the conversation how much is left, where there is a limit."""
    limit = _limit(s)
    if limit is None:
        return
    left = _amount(max(limit - s.journal.state.usage.credits, 0))
    status = (
        f"Remaining session limits: {left} AI credits. Later session_limits_status messages supersede "
        "earlier ones. Be frugal; avoid optional exploration and unnecessary tool calls."
    )
    s.emit(
        UserMessage(
            "",
            transformed_content=f"<session_limits_status>\n{status}\n</session_limits_status>",
            source=SOURCE,
            message_id=wire.new_id(),
            agent_mode=s.run.mode,
            delivery="idle",
            interaction_id=s.run.interaction_id,
            response_schema=s.run.form.schema if s.run.form else None,
        )
    )


async def stay_within(s: "Session") -> None:
    """Ask what shall happen while the limit is reached. Raises LimitReached when the run has to end."""
    while (limit := _limit(s)) is not None and (used := s.journal.state.usage.credits) >= limit:
        answer = await _ask(s, limit, used) if EXHAUSTED in s.interests.values() else None
        match answer:
            case LimitsAnswer(action="add", additional_ai_credits=float(more)) if more:
                change(s, SessionLimits(limit + more))
            case LimitsAnswer(action="set", max_ai_credits=float(most)):
                change(s, SessionLimits(most))
            case LimitsAnswer(action="unset"):
                change(s, None)
                return
            case _:
                raise LimitReached(
                    f"The session's limit of {_amount(limit)} AI credits is reached: {_amount(used)} are "
                    "used. Raise its sessionLimits.maxAiCredits to go on."
                )
        tell_model(s)


async def _ask(s: "Session", limit: float, used: float) -> LimitsAnswer | None:
    request_id = wire.new_id()

    def completed(answer: LimitsAnswer | None) -> LimitsExhaustedCompleted:
        return LimitsExhaustedCompleted(request_id, answer or LimitsAnswer("cancel"))

    requested = LimitsExhaustedRequested(limit, request_id, used)
    return await ask_clients(s, request_id, requested, completed, lambda _: True)


def _limit(s: "Session") -> float | None:
    limits = s.journal.state.limits
    return None if limits is None else limits.max_ai_credits


def _amount(credits: float) -> str:
    return f"{credits:.2f}".rstrip("0").rstrip(".")
