"""A session's state: a pure fold of its log."""

from turnwright.protocol.envelope import Event
from turnwright.protocol.events import questions
from turnwright.protocol.events.base import Data
from turnwright.protocol.events.compaction import CompactionComplete
from turnwright.protocol.events.conversation import (
    AssistantMessage,
    ToolRequest,
    TurnEnd,
    TurnStart,
    UserMessage,
)
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
        self.mode: Mode = "interactive"
        self.name: str | None = None
        self.title: str | None = None
        self.prompts = 0
        self.turns = 0
        self.compactions = 0
        self.open_turns: dict[tuple[str | None, str], None] = {}
        self.open_calls: dict[str, ToolRequest] = {}
        self.questions: dict[str, Question] = {}
        self.usage = Usage()

    def apply(self, event: Event) -> None:
        """Take one more event into account."""
        if event.ephemeral:
            return
        self.events += 1
        self.last_id = event.id
        self.modified = event.timestamp
        data = event.data
        if event.agent_id is None:
            self._main(data)
        match data:
            case TurnStart():
                self.turns += 1
                self.open_turns[event.agent_id, data.turn_id] = None
            case TurnEnd():
                self.open_turns.pop((event.agent_id, data.turn_id), None)
            case UsageRecord():
                self.usage.record(data.usage)
            case ToolComplete():
                self.usage.edited(data)
            case questions.PermissionRequested() | questions.ExternalToolRequested():
                self.questions[data.request_id] = data
            case questions.PermissionCompleted() | questions.ExternalToolCompleted():
                self.questions.pop(data.request_id, None)
            case _:
                pass

    def _main(self, data: Data) -> None:
        match data:
            case SessionStart():
                self.start = data
                self.context = data.context
                self.model = data.selected_model
                self.reasoning_effort = data.reasoning_effort
            case SessionResume():
                self.context = data.context
            case CompactionComplete(success=True):
                self.compactions += 1
            case ContextChanged():
                self.context = data
            case ModelChange():
                self.model = data.new_model
                self.reasoning_effort = data.reasoning_effort
            case ModeChanged():
                self.mode = data.new_mode
            case Renamed():
                self.name = data.name
            case TitleChanged():
                self.title = data.title
            case UserMessage():
                self.open_calls.clear()
                if data.content and not data.is_autopilot_continuation:
                    self.prompts += 1
                    self.title = self.title or data.content[:TITLE_LIMIT]
            case AssistantMessage():
                self.open_calls = {request.tool_call_id: request for request in data.tool_requests}
            case ToolComplete():
                self.open_calls.pop(data.tool_call_id, None)
            case _:
                pass
