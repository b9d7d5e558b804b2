"""Which tools a model is offered: the machine's, the session's own and the app's, less what is filtered."""

from collections.abc import Sequence

import msgspec

from turnwright.protocol.messages import ToolDefinition
from turnwright.tools.base import Tool

ALWAYS_IN_AUTOPILOT = "task_complete"
ONLY_WHEN_LISTED = frozenset({"task_complete"})


class Filter(msgspec.Struct, frozen=True):
    """The app's lists, and the selected agent's; None admits all.

    Entries are names, or `builtin:NAME`, `custom:NAME`, `mcp:NAME`, with NAME or `*`.
    """

    available: tuple[str, ...] | None = None
    excluded: tuple[str, ...] = ()
    of_agent: tuple[str, ...] | None = None

    def admits(self, name: str, source: str) -> bool:
        """Whether a tool of that source passes: an exclusion always wins."""
        entries = {name, f"{source}:{name}", f"{source}:*"}
        if not entries.isdisjoint(self.excluded):
            return False
        if self.available is not None and entries.isdisjoint(self.available):
            return False
        return self.of_agent is None or not entries.isdisjoint(self.of_agent)

    def names(self, name: str, source: str) -> bool:
        """Whether the app asked for the tool by its own name."""
        wanted = {name, f"{source}:{name}"}
        return self.available is not None and not wanted.isdisjoint(self.available)


class Toolset:
    """The tools of one model call, by name; an app's tool takes the place of a built-in one."""

    def __init__(self, tools: dict[str, Tool]) -> None:
        self._tools = tools
        self.definitions: tuple[ToolDefinition, ...] = tuple(tool.definition for tool in tools.values())

    def find(self, name: str) -> Tool | None:
        """The tool of that name, if it is on offer."""
        return self._tools.get(name)

    @property
    def names(self) -> list[str]:
        return list(self._tools)


def choose(
    builtin: Sequence[Tool],
    external: Sequence[Tool],
    chosen: Filter,
    *,
    autopilot: bool,
    hidden: frozenset[str],
) -> Toolset:
    """Settle the tools on offer. In autopilot no filter can remove `task_complete`: the run ends by it."""
    offered: dict[str, Tool] = {}
    for tool in builtin:
        name = tool.definition.name
        if autopilot and name == ALWAYS_IN_AUTOPILOT:
            offered[name] = tool
        elif name in hidden or (name in ONLY_WHEN_LISTED and not chosen.names(name, "builtin")):
            continue
        elif chosen.admits(name, "builtin"):
            offered[name] = tool
    for tool in external:
        name = tool.definition.name
        if chosen.admits(name, "custom"):
            offered[name] = tool
    return Toolset(offered)
