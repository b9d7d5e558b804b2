"""A user's rate limit on one model: the user may let the endpoint choose another."""

from typing import TYPE_CHECKING

from turnwright.errors import ProviderError
from turnwright.protocol.events.session import Info, ModelChange

if TYPE_CHECKING:
    from turnwright.engine.session import Session

AUTO = "auto"


async def switch_to_auto(s: "Session", error: ProviderError) -> bool:
    """Ask whether the model `auto` shall go on, where the endpoint offers one; True if it does."""
    if error.kind != "rate_limit" or error.error_code is None or s.model == AUTO:
        return False
    try:
        if not await s.choice.offers(AUTO):
            return False
    except ProviderError:
        return False
    answer = await s.asking.ask_about_auto_mode(error.error_code, error.retry_after)
    if answer is None or answer.response == "no":
        return False
    s.emit(Info("auto_mode_switch", "Rate limited. Switching to auto mode to continue."))
    previous = s.model
    s.choice.switch(AUTO)
    s.emit(ModelChange(AUTO, previous, cause="rate_limit_auto_switch"))
    return True
