"""What a run was denied because nobody could be asked, and the flag that would have allowed it."""

import shlex
from collections.abc import Callable
from typing import Any

from turnwright.cli.transcript import call
from turnwright.engine.permissions.permissions import UNAVAILABLE
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.tools import ToolComplete, ToolFailure, ToolStart

_KINDS = {"create": "write", "edit": "write", "view": "read", "grep": "read", "glob": "read"}


class Denials:
    """Writes a line for each call that was denied by default; calls that one flag would allow share one."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._calls: dict[str, ToolStart] = {}
        self._told: set[str] = set()

    def hear(self, event: Event) -> None:
        """Take the next event."""
        match event.data:
            case ToolStart(tool_call_id=call_id) as started:
                self._calls[call_id] = started
            case ToolComplete(tool_call_id=call_id, error=error):
                started = self._calls.pop(call_id, None)
                if started is not None and _is_default(error):
                    self._tell(started)
            case _:
                pass

    def _tell(self, started: ToolStart) -> None:
        flags = flags_for(started.tool_name, started.arguments)
        if flags not in self._told:
            self._told.add(flags)
            told = call(started.tool_name, started.arguments)
            self._write(f"turnwright: denied, as nobody could be asked ({flags} allows it): {told}")


def flags_for(tool: str, arguments: Any) -> str:
    """The flags that allow a call: no wider than its kind, and for a plain command line its commands."""
    match arguments:
        case {"command": str(command)} if tool == "bash":
            rules = _of_commands(command)
        case _:
            rules = [_KINDS.get(tool, tool)]
    return " ".join(f"--allow-tool {rule}" for rule in rules)


def _of_commands(command: str) -> list[str]:
    from turnwright.tools.command_line import parse  # loads a grammar

    line = parse(command)
    names = dict.fromkeys(segment.name for segment in line.segments)
    if not line.complete or not names or None in names or line.has_write_redirection:
        return ["shell"]
    return [shlex.quote(f"shell({name}:*)") for name in names]


def _is_default(error: ToolFailure | None) -> bool:
    return error is not None and error.message.startswith(UNAVAILABLE)
