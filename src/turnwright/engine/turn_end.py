"""The end of a turn: logged as soon as the disk takes it, saying whether the turn's request went out."""

from typing import TYPE_CHECKING

from turnwright.protocol.events.conversation import TurnEnd

if TYPE_CHECKING:
    from turnwright.engine.session import Session


def end_turn(s: "Session", turn_id: str, *, was_sent: bool, agent_id: str | None = None) -> None:
    """Log a turn's end, durable as the journal is. Raises StoreError; `close_turns` then ends it later."""
    if not was_sent:
        s.unsent_turns.add((agent_id, turn_id))
    s.journal.emit_durably(TurnEnd(turn_id, was_sent), agent_id=agent_id)
    s.unsent_turns.discard((agent_id, turn_id))


def close_turns(s: "Session") -> None:
    """End the turns that the log left open: a full disk did not take their ends, or a process was killed.

    Of a killed process's turns nobody knows whether their requests went out: they count as sent.
    """
    for agent_id, turn_id in tuple(s.journal.state.open_turns):
        if agent_id is None or not s.compaction.is_running:
            was_sent = (agent_id, turn_id) not in s.unsent_turns
            s.emit(TurnEnd(turn_id, was_sent), agent_id=agent_id)
            s.unsent_turns.discard((agent_id, turn_id))
