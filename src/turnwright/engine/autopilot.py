"""Autopilot's nudge: a model that stopped without `task_complete` is asked to go on, within bounds."""

import msgspec

from turnwright.protocol.options import AutopilotLimits

NUDGE = (
    "You have not yet marked the task as complete using the task_complete tool. If you were planning, stop "
    "planning and start implementing. You aren't done until you have fully completed the task.\n\n"
    "Don't call task_complete too early:\n"
    "- not with open questions: decide, and go on;\n"
    "- not because of an error: try to solve it first;\n"
    "- not with steps left: finish them first.\n"
)


class Autopilot(msgspec.Struct):
    """Counts the nudges of one prompt: `idle` those in a row whose run called no tool, `total` all."""

    limits: AutopilotLimits
    idle: int = 0
    total: int = 0

    def may_nudge(self, *, called_tools: bool) -> bool:
        """Whether to ask once more, after a run that did or didn't call tools. Counts the nudge."""
        if called_tools:
            self.idle = 0
        if self.idle >= self.limits.max_idle_continuations or self.total >= self.limits.max_continuations:
            return False
        self.idle += 1
        self.total += 1
        return True
