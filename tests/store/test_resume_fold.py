"""Loading a log decodes each line once, of a long one few, and gives what applying every event gives."""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from tests.faults.long_log import LongLog
from tests.store.calls import counted
from tests.store.logs import FIXTURES, events_of
from tests.store.steps import STEPS, applied, as_told, sealed
from turnwright.protocol.envelope import parse, seal
from turnwright.protocol.events import Data
from turnwright.protocol.events.compaction import CompactionComplete
from turnwright.protocol.events.conversation import AssistantMessage, ToolRequest, TurnStart, UserMessage
from turnwright.protocol.events.session import Info, Renamed
from turnwright.protocol.events.tools import HookStart, ToolComplete, ToolSuccess
from turnwright.store.load import load, load_state
from turnwright.store.memory import MemoryLog


def loaded(lines: Iterable[bytes]) -> dict[str, Any]:
    """What the folds say of a loaded log, which is whole, in either way of loading it."""
    log = MemoryLog()
    for line in lines:
        log.append(line)
    found, found_as_long = load(log), load(log, decoded_whole=-1)
    assert found.damage is found_as_long.damage is None
    told = as_told(found.state, found.history)
    [whole] = log.pieces()
    for size in (1, 2, 5):
        pieces = [whole[start : start + size] for start in range(0, len(whole), size)]
        assert as_told(load_state(pieces), found.history) == told
    assert as_told(found_as_long.state, found_as_long.history) == told
    return told


@settings(max_examples=500, deadline=None)
@given(STEPS)
def test_a_loaded_log_says_what_applying_every_event_says(
    steps: list[tuple[Data | float, str | None]],
) -> None:
    events = sealed(steps)
    assert loaded(event.encoded for event in events) == applied(events)


def test_a_call_is_answered_by_a_result_behind_an_event_of_a_sub_agent() -> None:
    reply = AssistantMessage("m", "", [ToolRequest("a", "bash", "function", {})])
    done = ToolComplete("a", True, result=ToolSuccess("x", "x"))
    hook = HookStart("h", "preToolUse")
    events = sealed([(hook, None), (TurnStart("0"), None), (reply, None), (hook, "agent"), (done, None)])
    assert loaded(event.encoded for event in events) == applied(events)


@pytest.mark.parametrize("name", sorted(file.stem for file in FIXTURES.glob("*.jsonl")))
def test_a_log_of_another_runtime_is_loaded_as_its_events_say(name: str) -> None:
    events = events_of(name)
    assert loaded(event.encoded for event in events) == applied(events)


def test_a_long_log_with_summaries_is_loaded_as_its_events_say() -> None:
    events = list(LongLog(output=300, turns_of_a_summary=70).events(3000))
    assert loaded(event.encoded for event in events) == applied(events)


def test_a_log_whose_events_are_spelled_in_another_order_is_loaded_too() -> None:
    events = list(LongLog(output=300, turns_of_a_summary=20).events(300))
    reordered = [
        msgspec.json.encode(dict(reversed(msgspec.json.decode(event.encoded).items()))) for event in events
    ]
    assert loaded(reordered) == applied(events)


@pytest.mark.parametrize("place", [0, 1, 2, 4])
def test_edits_count_wherever_in_a_result_they_stand(place: int) -> None:
    done = ToolComplete("a", True, result=ToolSuccess("x", "y" * 1000))
    first, event = sealed([(Info("x", "y"), None), (done, None)])
    envelope = msgspec.json.decode(event.encoded)
    data = list(envelope["data"].items())
    data.insert(place, ("fileEdits", [{"path": "/x", "kind": "update"}]))
    line = msgspec.json.encode({**envelope, "data": dict(data)})
    found = applied([first, parse(line)])
    assert found["usage"]["files"] == {"/x": None}
    assert loaded([first.encoded, line]) == found


def test_events_that_name_no_parent_or_a_wrong_one_are_applied_all_the_same() -> None:
    events = [event for event in LongLog(output=300).events(300) if event.type != "session.usage_record"]
    assert loaded(event.encoded for event in events) == applied(events)


def test_each_event_of_a_log_that_is_not_long_is_decoded_once() -> None:
    events = list(LongLog(output=300).events(3000))
    log = MemoryLog()
    log.rewrite(event.encoded for event in events)
    passed_over = sum(event.type == "tool.execution_start" for event in events)
    found = counted(lambda: load(log))
    assert (found["Decoder.decode_lines"], found["Decoder.decode"]) == (1, len(events) - passed_over)


def test_of_a_long_log_what_its_summaries_stand_for_is_decoded_only_where_the_state_needs_it() -> None:
    events = list(LongLog(output=300, turns_of_a_summary=70).events(3000))
    log = MemoryLog()
    log.rewrite(event.encoded for event in events)
    last_summary = max(
        place for place, event in enumerate(events) if isinstance(event.data, CompactionComplete)
    )
    rare = sum(
        event.type in ("session.start", "user.message", "session.compaction_complete") for event in events
    )
    shown = sum(
        event.type in ("system.message", "user.message", "assistant.message", "tool.execution_complete")
        for event in events[last_summary:]
    )
    found = counted(lambda: load(log, decoded_whole=-1))
    assert found["Decoder.decode_lines"] == 3  # replies, results that edited files, model calls
    assert found["Decoder.decode"] < 2 * (rare + shown) + 10 < len(events) / 2


def test_an_event_that_logs_are_not_for_says_nothing_in_one() -> None:
    said = seal(UserMessage("hi"), parent_id=None, ephemeral=True)
    named = seal(Renamed("a name"), parent_id=None)
    told = loaded([said.encoded, named.encoded])
    assert told == applied([parse(named.encoded)])


def test_a_summary_of_more_messages_than_there_are_leaves_those_behind_it() -> None:
    """A log that lost a line before its summary."""
    first = seal(
        CompactionComplete(True, "threshold", summary_content="sum", messages_removed=2), parent_id=None
    )
    second = seal(UserMessage("still here"), parent_id=first.id)
    told = loaded([first.encoded, second.encoded])
    assert [message["content"] for message in told["history"]["messages"]][1:] == ["still here"]
