"""What the folds said at a moment, as the log itself keeps it: a long log is resumed from there."""

from typing import Any

from msgspec import field

from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.events.conversation import ToolRequest
from turnwright.protocol.events.limits import SessionLimits
from turnwright.protocol.events.questions import ExternalToolRequested, PermissionRequested
from turnwright.protocol.events.session import Context, Mode, StateRecord
from turnwright.protocol.message_size import CHARACTERS_PER_TOKEN
from turnwright.store.history import History
from turnwright.store.state import Question, SelectedAgent, State
from turnwright.store.usage import ModelTotals, Record


class _Asked(wire.Wire):
    """A question that waits for its answer: the one or the other."""

    permission: PermissionRequested | None = None
    tool: ExternalToolRequested | None = None


class Totals(wire.Wire):
    """What `Usage` holds."""

    models: dict[str, ModelTotals] = field(default_factory=dict[str, ModelTotals])
    duration: float = 0.0
    lines_added: int = 0
    lines_removed: int = 0
    files: list[str] = field(default_factory=list[str])
    last: Record | None = None
    characters_per_token: float = CHARACTERS_PER_TOKEN


class Recorded(wire.Wire):
    """The state at a moment, the system prompt, and how many messages the history had.

    Results that were awaited then count as messages. What each event brings anew is left out, and what the
    log's first line says.
    """

    system: str = ""
    messages: int = 0
    events: int = 0
    context: Context | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    agent: SelectedAgent | None = None
    limits: SessionLimits | None = None
    mode: Mode = "interactive"
    name: str | None = None
    title: str | None = None
    tracks_files: bool = False
    prompts: int = 0
    turns: int = 0
    compactions: int = 0
    user_messages: list[str] = field(default_factory=list[str])
    response_schema: dict[str, Any] | None = None
    open_turns: list[tuple[str | None, str]] = field(default_factory=list[tuple[str | None, str]])
    open_calls: list[ToolRequest] = field(default_factory=list[ToolRequest])
    questions: list[_Asked] = field(default_factory=list[_Asked])
    usage: Totals = field(default_factory=Totals)

    def state(self) -> State:
        """The state as it was."""
        state = State()
        for name in _AS_IT_IS:
            setattr(state, name, getattr(self, name))
        state.open_turns = dict.fromkeys(self.open_turns)
        state.open_calls = {call.tool_call_id: call for call in self.open_calls}
        asked = (each.permission or each.tool for each in self.questions)
        state.questions = {each.request_id: each for each in asked if each is not None}
        for name in Totals.__struct_fields__:
            setattr(state.usage, name, getattr(self.usage, name))
        state.usage.files = dict.fromkeys(self.usage.files)
        return state


_OF_ITS_OWN_FORM = {"open_turns", "open_calls", "questions", "usage"}
_AS_IT_IS = tuple({*Recorded.__struct_fields__} & {*vars(State())} - _OF_ITS_OWN_FORM)


def record_of(state: State, history: History) -> StateRecord | None:
    """What to log; None in the moment in which the first message is still to come."""
    if history.seed is not None:
        return None
    used: dict[str, Any] = {**vars(state.usage), "files": [*state.usage.files]}
    recorded = Recorded(
        history.system,
        len(history.messages) + len(history.open),
        open_turns=[*state.open_turns],
        open_calls=[*state.open_calls.values()],
        questions=[_asked(question) for question in state.questions.values()],
        usage=Totals(**used),
        **{name: getattr(state, name) for name in _AS_IT_IS},
    )
    return StateRecord(wire.builtins(recorded))


def recorded_in(data: object) -> Recorded | None:
    """What a record holds; None when it is no record, or one of another form."""
    if not isinstance(data, StateRecord):
        return None
    try:
        return wire.convert(data.state, Recorded)
    except InvalidParams:
        return None


def _asked(question: Question) -> _Asked:
    if isinstance(question, PermissionRequested):
        return _Asked(permission=question)
    return _Asked(tool=question)
