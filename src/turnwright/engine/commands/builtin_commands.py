"""The runtime's own slash commands: each does what a method does, for people who type."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from turnwright.errors import InvalidParams
from turnwright.protocol.events.session import ModelChange, Renamed, TitleChanged
from turnwright.protocol.options import OptionChanges

if TYPE_CHECKING:
    from turnwright.engine.session import Session

DEFAULT_AGENT = "default"

Action = Callable[["Session", str], Awaitable[str]]


class BuiltinCommand(msgspec.Struct, frozen=True):
    """A command of the runtime; `run` takes the session and what stands after the name."""

    description: str
    hint: str
    run: Action

    def describe(self, name: str) -> dict[str, Any]:
        """The command in the wire's shape."""
        return {
            "name": name,
            "description": self.description,
            "kind": "builtin",
            "input": {"hint": self.hint},
            "allowDuringAgentExecution": True,
        }


async def _model(s: "Session", args: str) -> str:
    if args:
        previous = s.journal.state.model
        s.choice.switch(args)
        s.emit(ModelChange(args, previous))
        return f"The model is {args} from the next call on."
    model = s.journal.state.model or s.model
    return f"The model is {model}." if model else "No model is currently selected."


async def _agent(s: "Session", args: str) -> str:
    await s.agents.load()
    if args == DEFAULT_AGENT:
        s.agents.deselect()
    elif args:
        s.agents.select(args, field="/agent")
    current = s.agents.current
    names = ", ".join(agent.name for agent in s.agents.available if agent.user_invocable) or "none"
    return f"The agent is {current.name if current else DEFAULT_AGENT}. Custom agents: {names}."


async def _rename(s: "Session", args: str) -> str:
    if not args:
        raise InvalidParams("/rename wants a name")
    s.emit(Renamed(args))
    s.emit(TitleChanged(args))
    return f"The session is called {args}."


async def _cwd(s: "Session", args: str) -> str:
    if args:
        s.update(OptionChanges(working_directory=str(s.cwd / Path(args).expanduser())))
    return f"The working directory is {s.cwd}."


async def _allow_all(s: "Session", args: str) -> str:
    if args not in ("", "on", "off", "show"):
        raise InvalidParams("/allow-all takes on, off or show")
    if args != "show":
        s.permissions.approve_all = args != "off"
    state = (
        "Everything is allowed without asking" if s.permissions.approve_all else "Asking before each request"
    )
    return f"{state}."


BUILTIN = {
    "agent": BuiltinCommand("Show which agent answers, or let another one answer", "[agent|default]", _agent),
    "allow-all": BuiltinCommand("Allow everything without asking, or ask again", "[on|off|show]", _allow_all),
    "cwd": BuiltinCommand("Show the working directory, or change it", "[folder]", _cwd),
    "model": BuiltinCommand("Show which model answers, or let another one answer", "[model]", _model),
    "rename": BuiltinCommand("Name the session", "<name>", _rename),
}
