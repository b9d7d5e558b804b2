"""The loop under random scripts, aborts, steering, queueing, modes and answers."""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.harness import Recorder, app_tools, options, running, say
from turnwright.engine.permissions.permissions import Decision
from turnwright.engine.session import Session
from turnwright.engine.tool_calls.external_tool import Answer
from turnwright.errors import ProviderError
from turnwright.protocol.envelope import Event, parse
from turnwright.protocol.events.conversation import AssistantMessage, TurnEnd, TurnStart, UserMessage
from turnwright.protocol.events.questions import ExternalToolRequested, PermissionRequested
from turnwright.protocol.events.tools import ToolComplete
from turnwright.protocol.messages import Reply, ToolCall
from turnwright.protocol.options import AutopilotLimits, ToolSpec
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import Scripted, Step, check_history, text
from turnwright.store.history import History
from turnwright.store.memory import MemoryStore
from turnwright.store.state import State

TOOLS = ["ok", "asks", "fails", "rejected", "never", "nope", "bad", "task_complete"]

step = st.one_of(
    st.tuples(st.just("text"), st.sampled_from(["", "done", "assistant.turn_start"])),
    st.tuples(st.just("calls"), st.lists(st.sampled_from(TOOLS), min_size=1, max_size=3)),
    st.tuples(st.just("error"), st.booleans()),
    st.tuples(st.just("slow"), st.integers(1, 6)),
)
action = st.tuples(
    st.integers(1, 60),
    st.sampled_from(["abort", "abort", "steer", "enqueue", "autopilot", "plan", "interactive", "unanswered"]),
)


def replies(script: list[tuple[str, Any]]) -> list[Step]:
    """The script as steps of the model; call ids are unique over the conversation."""
    found: list[Step] = []
    for index, (kind, what) in enumerate(script):
        if kind == "text":
            found.append(Reply(what))
        elif kind == "calls":
            calls = tuple(
                ToolCall(f"c{index}-{n}", tool, '{"x' if tool == "bad" else "{}")
                for n, tool in enumerate(what)
            )
            found.append(Reply("", calls, finish_reason="tool_calls"))
        elif kind == "error":
            found.append(ProviderError("the server is busy", status=500, retryable=what, retry_after=0))
        else:
            found.append(slow(what))
    return found


def slow(ticks: int) -> Step:
    """A reply that takes some turns of the event loop."""

    async def respond(request: ModelRequest) -> Reply:
        for _ in range(ticks):
            await anyio.lowlevel.checkpoint()
        return text("slowly")

    return respond


class App:
    """Answers questions and does what the plan says after so many events."""

    def __init__(self, session: Session, client: Recorder, plan: list[tuple[int, str]]) -> None:
        self.session = session
        self.client = client
        self.plan = sorted(plan)
        self.sent: list[str] = []
        self.seen = 0
        self.aborts = 0

    async def run(self) -> None:
        while True:
            await anyio.lowlevel.checkpoint()
            while self.plan and self.plan[0][0] <= len(self.client.events):
                self.act(self.plan.pop(0)[1])
            while self.seen < len(self.client.events):
                event = self.client.events[self.seen]
                self.seen += 1
                self.answer(event)

    def act(self, what: str) -> None:
        match what:
            case "abort":
                self.session.abort()
            case "steer":
                self.sent.append(say(self.session, "steer", immediate=True))
            case "enqueue":
                self.sent.append(say(self.session, "and then"))
            case "autopilot" | "plan" | "interactive":
                self.session.set_mode(what)
            case _:
                pass

    def answer(self, event: Event) -> None:
        match event.data:
            case PermissionRequested(request_id=request_id, permission_request=asked):
                refused = "rejected" in str(asked)
                self.session.questions.answer(request_id, Decision("reject" if refused else "approve-once"))
            case ExternalToolRequested(request_id=request_id, tool_name=name):
                if name == "never":
                    self.plan.insert(0, (0, "abort"))
                else:
                    error = "no luck" if name == "fails" else None
                    self.session.questions.answer(request_id, Answer("fine", error))
            case _:
                pass


async def scenario(script: list[tuple[str, Any]], plan: list[tuple[int, str]], mode: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder)
        store = MemoryStore(tmp)
        model = Scripted(replies(script))
        client = Recorder()
        tools = [
            *app_tools("ok", "fails", "never"),
            ToolSpec("asks", "asks first"),
            ToolSpec("rejected", "is rejected"),
        ]
        async with running(model, tmp, store) as runtime:
            session = await runtime.create(
                options(
                    tmp,
                    tools=tools,
                    streaming=True,
                    request_permission=True,
                    mode=mode,
                    autopilot=AutopilotLimits(2, 4),
                ),
                client,
            )
            app = App(session, client, plan)
            app.sent.append(say(session, "begin"))
            async with anyio.create_task_group() as group:
                group.start_soon(app.run)
                with anyio.fail_after(3):
                    await client.until("session.idle")
                    while session.is_busy or last_of_run(client) != "session.idle":
                        await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
            check(session, client, model, app, store)


def last_of_run(client: Recorder) -> str:
    """The last event that a run emits; a mode may be set while nothing runs."""
    return next(type for type in reversed(client.types) if type != "session.mode_changed")


def check(session: Session, client: Recorder, model: Scripted, app: App, store: MemoryStore) -> None:
    events = client.persisted
    # idle: last, never twice without a prompt between, never while something waits
    assert last_of_run(client) == "session.idle"
    assert session.inbox.empty
    since_prompt = 0
    for event in client.events:
        if event.type == "session.idle":
            assert since_prompt, "idle without a run"
            since_prompt = 0
        elif event.type in ("user.message", "pending_messages.modified"):
            since_prompt += 1
    # turns: pairs, in order, one for each request that the model saw, or one that says that it sent none
    open_turn: str | None = None
    turns = unsent = 0
    for event in events:
        match event.data:
            case TurnStart(turn_id=turn_id):
                assert open_turn is None
                open_turn, turns = turn_id, turns + 1
            case TurnEnd(turn_id=turn_id, request_sent=was_sent):
                assert open_turn == turn_id
                open_turn, unsent = None, unsent + (not was_sent)
            case _:
                pass
    assert open_turn is None
    assert turns - unsent == len(model.requests)
    lines = store.logs[session.id].lines
    assert sum(b"assistant.turn_start" in line for line in lines) == turns
    # calls: one result each
    asked = [
        r.tool_call_id for e in events if isinstance(e.data, AssistantMessage) for r in e.data.tool_requests
    ]
    answered = Counter(e.data.tool_call_id for e in events if isinstance(e.data, ToolComplete))
    assert answered == Counter(asked)
    # messages: none lost, none twice
    said = Counter(e.data.message_id for e in events if isinstance(e.data, UserMessage))
    assert all(said[message_id] == 1 for message_id in app.sent)
    # the log: what was published, in an unbroken chain, and it replays to the live state
    assert lines == [event.encoded for event in events]
    parents = [None, *(event.id for event in events)]
    assert [event.parent_id for event in events] == parents[:-1]
    state, history = State(), History()
    for line in lines:
        event = parse(line)
        state.apply(event)
        history.apply(event)
    assert vars(history) | {"epoch": 0} == vars(session.journal.history) | {"epoch": 0}
    assert state.usage.models == session.journal.state.usage.models
    assert vars(state) | {"usage": None} == vars(session.journal.state) | {"usage": None}
    assert not state.open_calls
    assert not state.open_turns
    assert not state.questions
    # the model: never given a history that it would refuse
    assert model.problems == []
    assert [p for p in check_history(history.messages) if "last message" not in p] == []


@settings(max_examples=150, deadline=None)
@given(
    st.lists(step, max_size=8),
    st.lists(action, max_size=6),
    st.sampled_from(["interactive", "autopilot", "plan"]),
)
def test_whatever_happens_every_turn_is_accounted_for_and_idle_comes_last(
    script: list[tuple[str, Any]], plan: list[tuple[int, str]], mode: str
) -> None:
    anyio.run(scenario, script, plan, mode)
