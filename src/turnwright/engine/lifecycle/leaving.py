"""What a session that is unloaded leaves in its log."""

from typing import TYPE_CHECKING

from turnwright.engine.prompts.prompt import log_user_message
from turnwright.engine.questions.pending import repair

if TYPE_CHECKING:
    from turnwright.engine.session import Session


def log_waiting(s: "Session") -> None:
    """Log the messages that wait for a turn which won't come: the model reads them with the next one.

    What the log holds as pending is answered as interrupted, for nothing may stand between a call and its
    result.
    """
    said = [prompt for prompt in s.inbox.drain() if prompt.text is not None]
    if said:
        repair(s)
    for prompt in said:
        log_user_message(s, prompt.text or "", prompt=prompt, delivery="queued", source=prompt.source)
