"""Logs made of any events in any order, and what the folds say of them."""

from collections.abc import Iterable
from typing import Any

import msgspec
from hypothesis import strategies as st

from turnwright.protocol.envelope import Event, parse, seal
from turnwright.protocol.events import Data
from turnwright.protocol.events.agents import SubagentDeselected, SubagentSelected
from turnwright.protocol.events.compaction import CompactionComplete, CompactionStart, ContextCleared
from turnwright.protocol.events.conversation import (
    AssistantMessage,
    SystemMessage,
    ToolRequest,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnwright.protocol.events.limits import SessionLimits, SessionLimitsChanged
from turnwright.protocol.events.questions import (
    ExternalToolCompleted,
    ExternalToolRequested,
    PermissionCompleted,
    PermissionRequested,
    PermissionResult,
)
from turnwright.protocol.events.session import (
    ContextChanged,
    Info,
    ModeChanged,
    ModelChange,
    Renamed,
    UsageRecord,
)
from turnwright.protocol.events.tools import FileEdited, HookStart, ToolComplete, ToolStart, ToolSuccess
from turnwright.store.history import History
from turnwright.store.state import State

IDS = st.sampled_from("abcd")
TURNS = st.sampled_from("0123")
TEXTS = st.text(max_size=4)
MODELS = st.sampled_from(["m", "n"])
LIMITS = st.builds(SessionLimits, st.sampled_from([None, 1.5]))


def as_told(state: State, history: History) -> dict[str, Any]:
    """Everything that the folds say; the history's epoch counts for its process alone."""
    told = {**vars(state), "usage": vars(state.usage), "history": vars(history)}
    return msgspec.to_builtins(
        {**told, "history": {**vars(history), "epoch": 0}, "open_turns": [*state.open_turns]}
    )


def applied(events: Iterable[Event]) -> dict[str, Any]:
    """What the folds say after each event was applied as it was read."""
    state, history = State(), History()
    for event in events:
        state.apply(event)
        history.apply(event)
    return as_told(state, history)


@st.composite
def replies(draw: st.DrawFn) -> AssistantMessage:
    requests = [ToolRequest(i, "bash", "function", {"x": "agentId"}) for i in draw(st.lists(IDS, max_size=3))]
    return AssistantMessage("m", draw(TEXTS), requests)


@st.composite
def results(draw: st.DrawFn) -> ToolComplete:
    text = draw(TEXTS)
    done = ToolComplete(draw(IDS), True, result=ToolSuccess(text, text))
    if draw(st.booleans()):
        done.file_edits = [FileEdited("/x", "update")]
        done.tool_telemetry = {"metrics": {"linesAdded": 2, "linesRemoved": 1}}
    if draw(st.booleans()):
        done.modified_arguments = {"y": text}
    return done


PAYLOADS = st.one_of(
    st.builds(TurnStart, TURNS),
    st.builds(TurnEnd, TURNS),
    replies(),
    results(),
    st.builds(
        UserMessage,
        TEXTS,
        message_id=st.sampled_from([None, "m"]),
        is_autopilot_continuation=st.sampled_from([None, True]),
        response_schema=st.sampled_from([None, {"type": "object"}]),
    ),
    st.builds(ContextCleared, st.just(1), st.sampled_from([None, "anew"]), st.sampled_from([None, "m"])),
    st.builds(SystemMessage, TEXTS, st.just("system")),
    st.sampled_from([UsageRecord({"model": "m", "inputTokens": 7}), UsageRecord({"no": "model"})]),
    st.builds(ToolStart, IDS, st.just("bash")),
    st.builds(HookStart, st.just("h"), st.just("preToolUse")),
    st.just(Info("x", "y")),
    st.builds(Renamed, TEXTS),
    st.just(ModeChanged("interactive", "plan")),
    st.builds(ModelChange, MODELS, reasoning_effort=st.sampled_from([None, "high"])),
    st.builds(SubagentSelected, IDS, IDS, st.none(), model=st.none() | MODELS),
    st.just(SubagentDeselected()),
    st.builds(SessionLimitsChanged, st.none() | LIMITS),
    st.builds(ContextChanged, IDS, branch=st.none() | IDS),
    st.just(CompactionStart(1, 1, 1, 1, 1, "threshold")),
    st.builds(PermissionRequested, IDS, st.just({"kind": "shell"})),
    st.builds(PermissionCompleted, IDS, st.just(PermissionResult("approved"))),
    st.builds(ExternalToolRequested, IDS, st.just("s"), IDS, st.just("own")),
    st.builds(ExternalToolCompleted, IDS),
    st.floats(-0.2, 1.5),
)
STEPS = st.lists(st.tuples(PAYLOADS, st.sampled_from([None, None, None, "agent"])), max_size=40)


def sealed(steps: Iterable[tuple[Data | float, str | None]]) -> list[Event]:
    """A log of these payloads; a number is a summary of that share of the messages that there are."""
    events: list[Event] = []
    history, parent = History(), None
    for payload, agent_id in steps:
        if not isinstance(payload, Data):
            removed = round(payload * len(history.messages))
            payload = CompactionComplete(True, "threshold", summary_content="sum", messages_removed=removed)
        event = parse(seal(payload, parent_id=parent, ephemeral=False, agent_id=agent_id).encoded)
        history.apply(event)
        events.append(event)
        parent = event.id
    return events
