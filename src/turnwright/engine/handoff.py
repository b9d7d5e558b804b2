"""A summary for somebody else, who takes the work over: the conversation itself stays as it is."""

from typing import TYPE_CHECKING

from turnwright.engine.models.routing import BACKGROUND
from turnwright.engine.summary import GIVEN_UP, NO_SUMMARY, ask, whole
from turnwright.errors import ProviderError

if TYPE_CHECKING:
    from turnwright.engine.session import Session

AGENT = "handoff"

INSTRUCTIONS = (
    "Please summarise this conversation in Markdown for somebody who takes the work over without having seen "
    "it. Call no tools. Say under headings what the user wants, what was done and found, which files, names, "
    "values and decisions matter and why, and what is left to do. Write nothing but the summary."
)


async def hand_off(s: "Session") -> str:
    """The conversation so far as Markdown; empty when nothing was said. It waits for another summary.

    Raises ConfigError, and ProviderError also when the summary was given up.
    """
    summary = await s.compaction.alone(lambda _: _summarise(s))
    if summary is None:
        raise ProviderError(GIVEN_UP)
    return summary


async def _summarise(s: "Session") -> str:
    if not whole(s.journal.history):
        return ""
    await s.choice.settle()
    count = whole(s.journal.history)
    reply, _ = await ask(s, INSTRUCTIONS, count, agent=AGENT, turn_id="0", interaction=BACKGROUND)
    if not (summary := reply.content.strip()):
        raise ProviderError(NO_SUMMARY)
    return summary
