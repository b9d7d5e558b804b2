"""What the folds said at a moment, as the log itself keeps it: a long log is resumed from there."""

from typing import Any

from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.events.conversation import ToolRequest
from turnwright.protocol.events.limits import SessionLimits
from turnwright.protocol.events.questions import ExternalToolRequested, PermissionRequested
from turnwright.protocol.events.session import Context, Mode, StateRecord
from turnwright.store.history import History
from turnwright.store.state import Question, SelectedAgent, State
from turnwright.store.usage import ModelTotals, Record


class _Asked(wire.Wire):
    """A question that waits for its answer: the one or the other."""

    permission: PermissionRequested | None = None
    tool: ExternalToolRequested | None = None


class Totals(wire.Wire):
    """What `Usage` holds; each field is always there, as in `Recorded`."""

    models: dict[str, ModelTotals]
    duration: float
    lines_added: int
    lines_removed: int
    files: list[str]
    last: Record | None
    characters_per_token: float


class Recorded(wire.Wire):
    """The state at a moment, the system prompt, and how many messages the history had.

    Results that were awaited then count as messages. What each event brings anew is left out, and what the
    log's first line says. Each field is always there: what lacks one was made by a runtime that knew less.
    """

    system: str
    messages: int
    events: int
    context: Context | None
    model: str | None
    reasoning_effort: str | None
    agent: SelectedAgent | None
    limits: SessionLimits | None
    mode: Mode
    name: str | None
    title: str | None
    tracks_files: bool
    prompts: int
    turns: int
    compactions: int
    user_messages: list[str]
    response_schema: dict[str, Any] | None
    open_turns: list[tuple[str | None, str]]
    open_calls: list[ToolRequest]
    questions: list[_Asked]
    usage: Totals

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


LARGEST = 256 * 1024
"""Bytes of a record: what is said again of open calls and edited files must not outweigh what it spares."""


def record_of(state: State, history: History) -> StateRecord | None:
    """What to log; None where it would be too long, or the first message is still to come."""
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
    return StateRecord(wire.builtins(recorded)) if len(wire.encode(recorded)) <= LARGEST else None


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
