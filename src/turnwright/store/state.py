"""A session's state: a pure fold of its log."""

from collections.abc import Callable
from typing import Any

import msgspec

from turnwright.protocol.envelope import Event
from turnwright.protocol.events import questions
from turnwright.protocol.events.agents import SubagentDeselected, SubagentSelected
from turnwright.protocol.events.base import Data
from turnwright.protocol.events.compaction import CompactionComplete
from turnwright.protocol.events.conversation import (
    AssistantMessage,
    ToolRequest,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnwright.protocol.events.limits import SessionLimits, SessionLimitsChanged
from turnwright.protocol.events.session import (
    Context,
    ContextChanged,
    Mode,
    ModeChanged,
    ModelChange,
    Renamed,
    SessionResume,
    SessionStart,
    TitleChanged,
    UsageRecord,
)
from turnwright.protocol.events.tools import ToolComplete
from turnwright.store.usage import Usage

Question = questions.PermissionRequested | questions.ExternalToolRequested
TITLE_LIMIT = 250


class SelectedAgent(msgspec.Struct, frozen=True, rename="camel"):
    """The custom agent that was selected, with the model that it brought, until another one is chosen.

    The rest is what answered before, and does again when the agent is let go.
    """

    name: str
    model: str | None
    effort: str | None
    own_model: str | None
    own_effort: str | None


class State:
    """What the log says of a session so far."""

    def __init__(self) -> None:
        self.start: SessionStart | None = None
        self.last_id: str | None = None
        self.modified = ""
        self.events = 0
        self.context: Context | None = None
        self.model: str | None = None
        self.reasoning_effort: str | None = None
        self.agent: SelectedAgent | None = None
        self.limits: SessionLimits | None = None
        self.mode: Mode = "interactive"
        self.name: str | None = None
        self.title: str | None = None
        self.tracks_files = False
        self.prompts = 0
        self.turns = 0
        self.compactions = 0
        self.user_messages: list[str] = []
        self.open_turns: dict[tuple[str | None, str], None] = {}
        self.open_calls: dict[str, ToolRequest] = {}
        self.response_schema: dict[str, Any] | None = None
        self.questions: dict[str, Question] = {}
        self.usage = Usage()

    @property
    def wanted_model(self) -> tuple[str | None, str | None]:
        """The model that answers next, and how hard it thinks: an agent's before its first call, too."""
        agent = self.agent
        if agent is not None and agent.model not in (None, self.model):
            return agent.model, agent.effort
        return self.model, self.reasoning_effort

    def apply(self, event: Event) -> None:
        """Take one more event into account."""
        if event.ephemeral:
            return
        self.events += 1
        self.last_id = event.id
        self.modified = event.timestamp
        self.take(event.data, event.agent_id)

    def take(self, data: Data, agent_id: str | None) -> None:
        """Take what an event says into account."""
        kind = type(data)
        if kind in OF_ALL:
            OF_ALL[kind](self, data, agent_id)
        if agent_id is None and kind in OF_MAIN:
            OF_MAIN[kind](self, data)


# Each event looks itself up here: a chain of cases would cost most events, which change nothing, the most.


def _turn_start(s: State, data: TurnStart, agent_id: str | None) -> None:
    s.turns += 1
    s.open_turns[agent_id, data.turn_id] = None


def _turn_end(s: State, data: TurnEnd, agent_id: str | None) -> None:
    s.open_turns.pop((agent_id, data.turn_id), None)


def _usage(s: State, data: UsageRecord, agent_id: str | None) -> None:
    s.usage.record(data.usage)


def _edits(s: State, data: ToolComplete, agent_id: str | None) -> None:
    s.usage.edited(data)


def _asked(s: State, data: Question, agent_id: str | None) -> None:
    s.questions[data.request_id] = data


def _answered(
    s: State, data: questions.PermissionCompleted | questions.ExternalToolCompleted, agent_id: str | None
) -> None:
    s.questions.pop(data.request_id, None)


OF_ALL: dict[type[Data], Callable[[State, Any, str | None], None]] = {
    TurnStart: _turn_start,
    TurnEnd: _turn_end,
    UsageRecord: _usage,
    ToolComplete: _edits,
    questions.PermissionRequested: _asked,
    questions.ExternalToolRequested: _asked,
    questions.PermissionCompleted: _answered,
    questions.ExternalToolCompleted: _answered,
}
"""What follows from events of every agent."""


def _start(s: State, data: SessionStart) -> None:
    s.start = data
    s.context = data.context
    s.model = data.selected_model
    s.reasoning_effort = data.reasoning_effort
    s.limits = data.session_limits
    s.tracks_files = bool(data.file_change_tracking)


def _resume(s: State, data: SessionResume) -> None:
    s.context = data.context
    s.limits = data.session_limits or s.limits
    s.tracks_files = s.tracks_files or bool(data.file_change_tracking)


def _limited(s: State, data: SessionLimitsChanged) -> None:
    s.limits = data.session_limits


def _compacted(s: State, data: CompactionComplete) -> None:
    s.compactions += data.success
    if data.success:
        s.user_messages = data.user_messages or []


def _moved(s: State, data: ContextChanged) -> None:
    s.context = data


def _model(s: State, data: ModelChange) -> None:
    s.model = data.new_model
    s.reasoning_effort = data.reasoning_effort
    if s.agent is not None and s.agent.model not in (None, data.new_model):
        s.agent = msgspec.structs.replace(s.agent, model=None)


def _selected(s: State, data: SubagentSelected) -> None:
    before, own = s.agent, (s.model, s.reasoning_effort)
    if before is not None and before.model is not None:
        own = before.own_model, before.own_effort
    s.agent = SelectedAgent(data.agent_name, data.model, data.reasoning_effort, *own)


def _deselected(s: State, data: SubagentDeselected) -> None:
    s.agent = None


def _mode(s: State, data: ModeChanged) -> None:
    s.mode = data.new_mode


def _renamed(s: State, data: Renamed) -> None:
    s.name = data.name


def _titled(s: State, data: TitleChanged) -> None:
    s.title = data.title


def _user(s: State, data: UserMessage) -> None:
    s.open_calls.clear()
    s.response_schema = data.response_schema
    if data.content and not data.is_autopilot_continuation:
        s.prompts += 1
        s.title = s.title or data.content[:TITLE_LIMIT]


def _reply(s: State, data: AssistantMessage) -> None:
    s.open_calls = {request.tool_call_id: request for request in data.tool_requests}


def _result(s: State, data: ToolComplete) -> None:
    s.open_calls.pop(data.tool_call_id, None)


OF_MAIN: dict[type[Data], Callable[[State, Any], None]] = {
    SessionStart: _start,
    SessionResume: _resume,
    CompactionComplete: _compacted,
    SessionLimitsChanged: _limited,
    ContextChanged: _moved,
    ModelChange: _model,
    ModeChanged: _mode,
    SubagentSelected: _selected,
    SubagentDeselected: _deselected,
    Renamed: _renamed,
    TitleChanged: _titled,
    UserMessage: _user,
    AssistantMessage: _reply,
    ToolComplete: _result,
}
"""What follows from events of the main agent alone."""
