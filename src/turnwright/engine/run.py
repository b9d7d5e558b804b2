"""What a session knows of the run in hand; nothing of it outlives the run."""

from collections.abc import Mapping

from turnwright.engine.answer_form import AnswerForm
from turnwright.engine.autopilot import Autopilot
from turnwright.engine.inbox import Prompt
from turnwright.protocol import wire
from turnwright.protocol.events.session import Mode
from turnwright.protocol.options import AutopilotLimits

MOST_STOP_BLOCKS = 10


class Run:
    """One prompt, from its message to the idle; `refusals` is how many of the disk were told before.

    `turn_id` is that of the turn in hand, "0" for the first of an interaction.
    """

    def __init__(self, prompt: Prompt, limits: AutopilotLimits, refusals: int = 0) -> None:
        self.refusals = refusals
        self.message_id = prompt.message_id
        self.headers: Mapping[str, str] = prompt.headers or {}
        self.mode: Mode | None = prompt.agent_mode
        self.interaction_id = wire.new_id()
        self.over = False
        self.rejected = False
        self.seed: Prompt | None = None
        self.answer = ""
        self.form: AnswerForm | None = None
        self.called_tools = False
        self.made_room = False
        self.cut_off = 0
        self.autopilot = Autopilot(limits)
        self.stop_blocks = 0
        self.turn_id = "0"
        self._turns = 0

    def next_turn(self) -> None:
        """Count one more turn."""
        self.turn_id = str(self._turns)
        self._turns += 1

    def restart(self) -> None:
        """Begin a new interaction within the run: turns count from "0" again."""
        self.interaction_id = wire.new_id()
        self.called_tools = False
        self.turn_id = "0"
        self._turns = 0

    def may_block_stop(self) -> bool:
        """Whether a stop hook may send the model on once more. Counts it: no hook can do so for ever."""
        self.stop_blocks += 1
        return self.stop_blocks <= MOST_STOP_BLOCKS
