"""A long log is resumed from a record of its state, and says what it says when it is read from its start."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.faults.long_log import LongLog
from tests.store.steps import STEPS, applied, as_told, sealed
from turnwright.protocol.envelope import Event, parse, seal
from turnwright.protocol.events import Data
from turnwright.protocol.events.compaction import CompactionComplete, ContextCleared
from turnwright.protocol.events.conversation import AssistantMessage, SystemMessage, UserMessage
from turnwright.protocol.events.session import Context, Info, SessionStart, StateRecord
from turnwright.store.disk import Disk
from turnwright.store.history import History
from turnwright.store.jsonl_log import JsonlLog
from turnwright.store.load import VERIFIED_WHOLE, Loaded, load
from turnwright.store.memory import MemoryLog
from turnwright.store.state import State
from turnwright.store.state_record import Recorded, Totals, record_of, recorded_in
from turnwright.store.usage import Usage

START = SessionStart("s", 1, "turnwright", "0", "2026-01-01T00:00:00.000Z", None, Context("/w"), False, False)


def summary(removed: int) -> CompactionComplete:
    return CompactionComplete(True, "threshold", summary_content="sum", messages_removed=removed)


def recorded(events: Iterable[Event], places: Iterable[int] = ()) -> list[Event]:
    """The events behind a session's start, with a record behind each summary, and at these places."""
    state, history, parent = State(), History(), None
    found: list[Event] = []

    def add(data: Data, agent_id: str | None = None) -> None:
        nonlocal parent
        event = parse(seal(data, parent_id=parent, ephemeral=False, agent_id=agent_id).encoded)
        state.apply(event)
        history.apply(event)
        found.append(event)
        parent = event.id

    add(START)
    for place, event in enumerate(events):
        add(event.data, event.agent_id)
        is_summary = isinstance(event.data, CompactionComplete) and event.agent_id is None
        if (is_summary or place in places) and (record := record_of(state, history)):
            add(record)
    return found


def resumed(events: Sequence[Event], *, damaged: int = 0) -> Loaded:
    """What a log says that is long; its first events but one are `damaged`, where nobody may look."""
    log = MemoryLog()
    for place, event in enumerate(events):
        log.append(b"?" * len(event.encoded) if 0 < place <= damaged else event.encoded)
    return load(log, decoded_whole=-1)


def told(loaded: Loaded) -> dict[str, Any]:
    assert loaded.damage is None
    return as_told(loaded.state, loaded.history)


@settings(max_examples=500, deadline=None)
@given(STEPS, STEPS, st.sets(st.integers(0, 60), max_size=3))
def test_a_log_with_records_says_what_applying_every_event_says(
    steps: list[tuple[Data | float, str | None]],
    more: list[tuple[Data | float, str | None]],
    places: set[int],
) -> None:
    events = recorded(sealed([*steps, (0.5, None), *more]), places)
    assert told(resumed(events)) == applied(events)


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_a_record_holds_the_whole_state(steps: list[tuple[Data | float, str | None]]) -> None:
    events = sealed([(START, None), *steps])
    state, history = State(), History()
    for event in events:
        state.apply(event)
        history.apply(event)
    record = record_of(state, history)
    if record is not None:
        event = parse(seal(record, parent_id=None).encoded)
        found = recorded_in(event.data)
        assert found is not None
        again = found.state()
        again.start, again.last_id, again.modified = state.start, state.last_id, state.modified
        assert as_told(again, history) == as_told(state, history)


def test_nothing_of_the_state_is_left_out_of_a_record() -> None:
    """Who adds to the state adds here too, where it isn't part of each event or of the log's first line."""
    apart = {"start", "last_id", "modified"}
    assert {*Recorded.__struct_fields__} - {"system", "messages"} == {*vars(State())} - apart
    assert {*Totals.__struct_fields__} == {*vars(Usage())}


def test_a_summary_counts_only_right_before_its_record() -> None:
    said = [UserMessage("a"), summary(1), ContextCleared(1), UserMessage("b")]
    events = recorded(sealed((data, None) for data in said), places=[3])
    assert isinstance(events[-1].data, StateRecord)
    assert told(resumed(events)) == applied(events)


def test_a_summary_of_a_sub_agents_own_conversation_is_none_of_the_sessions() -> None:
    said: list[tuple[Data, str | None]] = [(summary(0), "agent"), (AssistantMessage("m", "re", []), None)]
    events = recorded(sealed([*said, (summary(0), None)]), places=[0])
    assert told(resumed(events)) == applied(events)


@pytest.mark.parametrize(("left", "records"), [(0, 1), (2, 2)], ids=["the last one", "the one before"])
def test_what_stands_before_a_record_is_not_read(left: int, records: int) -> None:
    prompts = [UserMessage(f"{number}") for number in range(6)]
    replies = [AssistantMessage("m", f"re {number}", []) for number in range(6)]
    system, on = SystemMessage("Be brief.", "system"), UserMessage("on")
    said = [system, *prompts, summary(6 - left), *replies, summary(7), on]
    events = recorded(sealed((data, None) for data in said))
    places = [place for place, event in enumerate(events) if isinstance(event.data, StateRecord)]
    assert told(resumed(events, damaged=places[-records] - 2)) == applied(events)


@pytest.mark.parametrize(("old", "new"), [(b'"sum"', b'"sun"'), (b'"prompts":1', b'"prompts":2')])
def test_a_big_log_is_compared_with_its_sums_from_the_summary_of_its_record_on(
    tmp_path: Path, old: bytes, new: bytes
) -> None:
    said = [UserMessage("x" * VERIFIED_WHOLE), summary(1), UserMessage("on")]
    log = JsonlLog(tmp_path / "events.jsonl", Disk(), new=True)
    log.hold()
    for event in recorded(sealed((data, None) for data in said)):
        log.append(event.encoded)
        log.begin_sync()()
    assert load(log).altered is None
    log.close()
    file = tmp_path / "events.jsonl"
    data = file.read_bytes()
    assert data.count(old) == 1
    file.write_bytes(data.replace(old, new))
    log = JsonlLog(file, Disk(), new=False)
    log.hold()
    assert load(log).altered is not None
    log.close()


def test_what_stands_before_a_record_is_read_where_the_conversation_begins_there() -> None:
    events = recorded(sealed([(UserMessage("a"), None), (UserMessage("b"), None), (0.5, None)]))
    assert told(resumed(events)) == applied(events)
    assert resumed(events, damaged=1).damage is not None


@pytest.mark.parametrize("state", [None, [], {}, {"events": "many"}, {"openTurns": [["only one"]]}])
def test_a_record_of_another_form_is_none(state: object) -> None:
    events = recorded(sealed([(UserMessage("a"), None), (1.0, None), (Info("x", "y"), None)]))
    record = parse(seal(StateRecord(state), parent_id=events[-1].id).encoded)
    events = [*events, record]
    assert told(resumed(events)) == applied(events)


@pytest.mark.parametrize("lacking", [*Recorded.__struct_encode_fields__, *Totals.__struct_encode_fields__])
def test_a_record_of_a_runtime_that_knew_less_of_the_state_is_none(lacking: str) -> None:
    record = record_of(State(), History())
    assert record is not None
    assert recorded_in(record) is not None
    del (record.state if lacking in record.state else record.state["usage"])[lacking]
    assert recorded_in(record) is None


def test_a_log_that_does_not_begin_with_a_start_is_read_as_a_whole() -> None:
    events = recorded(sealed([(UserMessage("a"), None), (1.0, None), (UserMessage("b"), None)]))[1:]
    assert told(resumed(events)) == applied(events)


def test_no_record_is_made_while_the_first_message_is_still_to_come() -> None:
    history = History()
    history.take(ContextCleared(1, "anew", "m"))
    assert record_of(State(), history) is None
    history.take(UserMessage("anew", message_id="m"))
    assert record_of(State(), history) is not None


def test_no_record_is_made_that_would_be_long() -> None:
    state, history = State(), History()
    state.usage.files = dict.fromkeys("x" * 1000 + str(number) for number in range(200))
    assert record_of(state, history) is not None
    state.usage.files |= dict.fromkeys("y" * 1000 + str(number) for number in range(200))
    assert record_of(state, history) is None


def test_a_record_is_small_however_long_the_log() -> None:
    state, history, sizes = State(), History(), list[int]()
    for event in LongLog(output=300, turns_of_a_summary=50).events(1200):
        state.apply(event)
        history.apply(event)
        if isinstance(event.data, CompactionComplete) and (record := record_of(state, history)):
            sizes.append(len(seal(record, parent_id=None).encoded) - len(history.system))
    assert len(sizes) == 4
    assert max(sizes) < sizes[0] + 100 < 2000
