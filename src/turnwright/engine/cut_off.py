"""Replies that the output limit cut off in a call, or before any word: the model is told, to do with less."""

from typing import TYPE_CHECKING

from turnwright.engine.prompts.prompt import log_user_message
from turnwright.protocol.messages import Reply

if TYPE_CHECKING:
    from turnwright.engine.session import Session

MOST = 3
"""Times that a run goes on after it: a model that always writes too much doesn't learn."""

OF_A_CALL = (
    "Your last reply was cut off at the output limit, in the middle of a call of `{}`. That call was not "
    "run. Send less at once: for example, write a long file in several parts."
)
OF_ALL = (
    "Your last reply was cut off at the output limit before you said anything. Think less, answer shortly."
)


def tell_model(s: "Session", reply: Reply) -> bool:
    """Whether the model was told, and the run goes on: half a call was left out, or nothing was said."""
    is_empty = not reply.content and not reply.tool_calls
    if reply.finish_reason != "length" or not (reply.cut_call or is_empty):
        return False
    if s.run.over or s.run.cut_off >= MOST:
        return False
    s.run.cut_off += 1
    text = OF_A_CALL.format(reply.cut_call) if reply.cut_call else OF_ALL
    log_user_message(s, text, source="output_limit", delivery="idle")
    return True
