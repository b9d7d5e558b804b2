"""A tool of the runtime's own that does what a test says."""

from collections.abc import Awaitable, Callable

from turnwright.protocol.messages import ToolDefinition
from turnwright.protocol.permissions import PermissionRequest
from turnwright.tools.base import Call, ToolResult


async def succeed(call: Call) -> ToolResult:
    """Return `ok`."""
    return ToolResult("ok")


class LocalTool:
    """A tool named `name` that needs no permission."""

    def __init__(
        self,
        name: str,
        run: Callable[[Call], Awaitable[ToolResult]] = succeed,
        *,
        read_only: bool = True,
        terminal: bool = False,
    ) -> None:
        self.definition = ToolDefinition(name, f"The tool {name}.", {"type": "object", "properties": {}})
        self.read_only = read_only
        self.terminal = terminal
        self._run = run

    def permission(self, call: Call) -> PermissionRequest | None:
        return None

    async def run(self, call: Call) -> ToolResult:
        return await self._run(call)
