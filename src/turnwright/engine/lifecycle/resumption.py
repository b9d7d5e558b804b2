"""A session is taken up again: what its log says of that, and what happens to what was left open."""

from typing import TYPE_CHECKING

from turnwright.engine.inbox import Prompt
from turnwright.engine.lifecycle import summary
from turnwright.engine.questions.pending import repair
from turnwright.protocol import wire
from turnwright.protocol.events.session import Warned
from turnwright.protocol.options import SessionOptions
from turnwright.tools.left_over import end_left_over

if TYPE_CHECKING:
    from turnwright.engine.session import Session


def announce_resume(session: "Session", options: SessionOptions, *, was_active: bool, live: bool) -> None:
    """Log that a client took the session up, and bring in order what the log left open.

    `live` is whether the session was in memory; `was_active`, whether it had clients.
    """
    state = session.journal.state
    continues = options.continue_pending_work
    if not live:
        end_left_over(session.processes)
    if not live and not continues:
        repair(session)
    for kind, fault in (
        ("log_damaged", session.journal.damage),
        ("log_altered", session.journal.altered),
    ):
        if fault is not None and not live:
            session.emit(Warned(kind, str(fault)), ephemeral=True)
    session.agents.announce()
    resumed = summary.resumed(
        state, options, size=session.journal.log.size, cwd=session.cwd, was_active=was_active
    )
    session.emit(resumed)
    for failed in session.untold:  # the log holds none of them, and nobody was there to hear
        session.emit(failed, ephemeral=True)
    session.untold.clear()
    if not live and continues and state.open_calls:
        session.send(Prompt(message_id=wire.new_id(), text=None))
