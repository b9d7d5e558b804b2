"""Events of a session's limits: what they are, and what shall happen once they are reached."""

from typing import Annotated, Literal

import msgspec

from turnwright.protocol.events.base import Data, event
from turnwright.protocol.wire import Wire

Credits = Annotated[float, msgspec.Meta(ge=0)]


class SessionLimits(Wire):
    """How much a session may cost; None is no limit."""

    max_ai_credits: Credits | None = None


@event("session.session_limits_changed")
class SessionLimitsChanged(Data):
    """The session's limits from here on; None lifts them."""

    session_limits: SessionLimits | None


class LimitsAnswer(Wire):
    """What the user wants: more by `additional_ai_credits`, `max_ai_credits` in all, no limit, or to stop."""

    action: Literal["add", "set", "unset", "cancel"]
    additional_ai_credits: Credits | None = None
    max_ai_credits: Credits | None = None


@event("session_limits_exhausted.requested", ephemeral=True)
class LimitsExhaustedRequested(Data):
    """The limit is reached: what shall happen before the next model call?"""

    max_ai_credits: float
    request_id: str
    used_ai_credits: float


@event("session_limits_exhausted.completed", ephemeral=True)
class LimitsExhaustedCompleted(Data):
    """The answer to that; a question that nobody answers ends as `cancel`."""

    request_id: str
    response: LimitsAnswer
