"""Tools that give the results of a recording instead of doing anything."""

from collections.abc import Iterable, Mapping

from turnwright.engine.session import Session
from turnwright.engine.tool_calls.external_tool import Answer
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.questions import ExternalToolRequested
from turnwright.protocol.options import ToolSpec
from turnwright.protocol.permissions import PermissionRequest
from turnwright.recording.form import Recording, as_text
from turnwright.recording.places import Places
from turnwright.tools.base import Call, Tool, ToolResult

ALWAYS_RUN = frozenset({"task_complete"})
"""They do nothing but end the run, as they did when it was recorded."""


def results_of(recording: Recording, places: Places) -> dict[str, str]:
    """What was recorded of each call, by its id."""
    return {
        said.of: places.show(as_text(said.result))
        for exchange in recording.exchanges
        for said in exchange.messages
        if said.of is not None and said.result is not None
    }


class RecordedTool:
    """A tool that runs only for calls of which there is no recorded result."""

    read_only = True

    def __init__(self, tool: Tool, results: Mapping[str, str]) -> None:
        self._tool = tool
        self._results = results
        self.definition = tool.definition
        self.terminal = tool.terminal

    def permission(self, call: Call) -> PermissionRequest | None:
        return None if call.id in self._results else self._tool.permission(call)

    async def run(self, call: Call) -> ToolResult:
        if call.id in self._results:
            return ToolResult(self._results[call.id])
        return await self._tool.run(call)


def elsewhere(recording: Recording, tools: Iterable[Tool]) -> list[ToolSpec]:
    """Tools that were called and aren't the machine's: the app's, and those that ask its user."""
    called = {call.name for each in recording.exchanges if each.reply for call in each.reply.calls}
    here = {tool.definition.name for tool in tools} | ALWAYS_RUN
    return [
        ToolSpec(name, skip_permission=True, overrides_built_in_tool=True) for name in sorted(called - here)
    ]


def answer(session: Session, event: Event, results: Mapping[str, str]) -> None:
    """Give the recorded result of a call of an app's tool."""
    if isinstance(event.data, ExternalToolRequested):
        recorded = results.get(event.data.tool_call_id)
        given = Answer(recorded) if recorded is not None else Answer(error="No result was recorded.")
        session.questions.answer(event.data.request_id, given)
