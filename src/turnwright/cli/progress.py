"""A run as it happens, in a few lines for each turn."""

import time
from collections.abc import Callable

from turnwright.cli.output import brief
from turnwright.cli.transcript import WIDTH, call, outcome
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.conversation import AssistantMessage, TurnRetry, TurnStart, UserMessage
from turnwright.protocol.events.session import AutopilotStopped, ModeChanged
from turnwright.protocol.events.tools import ToolComplete, ToolStart


class Progress:
    """Writes a line for each turn, call and failure; an answer is left to whoever prints the result."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._turns = 0
        self._running: dict[str, tuple[str, float]] = {}

    def hear(self, event: Event) -> None:
        """Take the next event."""
        match event.data:
            case TurnStart():
                self._turns += 1
                by = f" (sub-agent {event.agent_id})" if event.agent_id else ""
                self._write(f"turn {self._turns}{by}")
            case AssistantMessage(content=content, tool_requests=requests) if content.strip() and requests:
                self._write(f"  {brief(content, WIDTH)}")
            case ToolStart(tool_call_id=call_id, tool_name=name, arguments=arguments):
                self._running[call_id] = (call(name, arguments), time.monotonic())
            case ToolComplete() as done:
                self._complete(done)
            case TurnRetry(reason=reason):
                self._write(f"  trying again: {reason or 'the call failed'}")
            case UserMessage(is_autopilot_continuation=True):
                self._write("autopilot: go on")
            case ModeChanged(new_mode=mode):
                self._write(f"mode {mode}")
            case AutopilotStopped(reason=reason):
                self._write(f"autopilot stopped: {reason}")
            case _:
                pass

    def _complete(self, done: ToolComplete) -> None:
        told, since = self._running.pop(done.tool_call_id, ("", time.monotonic()))
        mark = "✓" if done.success else "✗"
        why = "" if done.success else f": {brief(outcome(done), WIDTH)}"
        self._write(f"  {mark} {told}{why} ({time.monotonic() - since:.1f} s)")
