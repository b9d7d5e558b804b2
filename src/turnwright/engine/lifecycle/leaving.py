"""What a session that is unloaded leaves in its log."""

from typing import TYPE_CHECKING

from turnwright.engine.prompts.prompt import log_user_message
from turnwright.engine.questions.pending import repair

if TYPE_CHECKING:
    from turnwright.engine.session import Session


def leave_in_order(s: "Session") -> None:
    """Leave nothing open but what may stay pending, and log the messages that wait for a turn.

    The model reads these with the next one. What is pending is answered as interrupted before them, for
    nothing may stand between a call and its result. Raises StoreError.
    """
    said = [prompt for prompt in s.inbox.drain() if prompt.text is not None]
    if said or not s.questions.leave_open:
        repair(s)
    for prompt in said:
        log_user_message(s, prompt.text or "", prompt=prompt, delivery="queued", source=prompt.source)
