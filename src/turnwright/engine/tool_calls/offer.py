"""The tools that a session's model is offered now, settled anew only when something changed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from turnwright.engine.agents.tool_names import expand
from turnwright.engine.tool_calls.external_tool import ExternalTool
from turnwright.engine.tool_calls.toolset import Filter, Toolset, choose
from turnwright.protocol import wire
from turnwright.protocol.options import ToolSpec
from turnwright.tools.base import Tool

if TYPE_CHECKING:
    from turnwright.engine.session import Session


class Offer:
    """`tools` as they were settled last; `size` is the length of their definitions, in bytes of JSON."""

    def __init__(self, s: "Session", builtin: Sequence[Tool]) -> None:
        self.tools = Toolset({})
        self.size = 0
        self._s = s
        self._builtin = builtin
        self._specs: tuple[ToolSpec, ...] = ()
        self._asked: object = None
        self._key: object = None

    def settle(self) -> bool:
        """Settle the tools for the next model call; True when they changed."""
        asked = self._asked_for()
        if asked == self._asked:
            return False
        self._asked = asked
        mode = self._s.mode
        specs, chosen, hidden = self._external(), self._filter(), self._hidden()
        key = (mode == "autopilot", tuple(map(id, specs)), chosen, hidden)
        if key == self._key:
            return False
        external = [ExternalTool(spec, self._s.id, self._s.questions) for spec in specs]
        self.tools = choose(self._builtin, external, chosen, autopilot=mode == "autopilot", hidden=hidden)
        self.size = len(wire.encode(self.tools.definitions))
        self._specs, self._key = specs, key
        return True

    def _asked_for(self) -> object:
        """What the tools follow from, and which seldom changes."""
        o = self._s.options
        lists = o.available_tools, o.excluded_tools, o.default_agent
        return self._s.clients.changes, self._s.mode, self._s.agents.current, o.ask_user_disabled, lists

    def _external(self) -> tuple[ToolSpec, ...]:
        """The tools of the attached clients; while none is attached, those that were on offer last."""
        clients = self._s.clients
        if not clients:
            return self._specs
        found = {spec.name: spec for options in clients.options() for spec in options.tools or ()}
        return tuple(found.values())

    def _filter(self) -> Filter:
        options, agent = self._s.options, self._s.agents.current
        excluded = tuple(options.excluded_tools or ())
        if agent is None and options.default_agent is not None:
            excluded += tuple(options.default_agent.excluded_tools or ())
        available = None if options.available_tools is None else tuple(options.available_tools)
        return Filter(available, excluded, expand(agent.tools) if agent else None)

    def _hidden(self) -> frozenset[str]:
        """Tools that ask a person, when there is nobody to ask."""
        clients, hidden = self._s.clients, set[str]()
        if self._s.options.ask_user_disabled or not clients.any(lambda o: o.request_user_input):
            hidden.add("ask_user")
        if self._s.mode != "plan" and not clients.any(lambda o: o.request_exit_plan_mode):
            hidden.add("exit_plan_mode")
        return frozenset(hidden)
