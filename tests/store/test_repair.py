"""Repair: whatever happened to a log, an audit finds it sound afterwards, and no whole event is lost."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Raw

from tests.store.logs import lines_of
from turnwright.protocol import wire
from turnwright.store.audit import audit
from turnwright.store.history import INTERRUPTED
from turnwright.store.repair import Change, obstacle, repair

TOOLS = lines_of("tools")
NAMES = ("tools", "aborted", "killed", "autopilot")
LOST_FOR_GOOD = ("begins where", "is asked for twice")


def types(lines: list[bytes]) -> list[str]:
    return [wire.loads(line)["type"] for line in lines]


def left(lines: list[bytes]) -> list[str]:
    """What an audit still finds broken, save what nobody could bring back: a whole turn that is missing."""
    found = [finding.text for finding in audit(line + b"\n" for line in lines).findings if finding.broken]
    return [text for text in found if not any(part in text for part in LOST_FOR_GOOD)]


@pytest.mark.parametrize("name", ["tools", "autopilot"])
def test_a_sound_log_stays_byte_for_byte(name: str) -> None:
    lines = lines_of(name)
    assert repair(lines) == ([line.rstrip(b"\n") for line in lines], [], [])


def test_a_turn_that_was_killed_is_ended_and_its_calls_are_answered_as_interrupted() -> None:
    lines = lines_of("killed")
    repaired = repair(lines)
    assert repaired.lines[: len(lines)] == [line.rstrip(b"\n") for line in lines]
    assert types(repaired.lines[len(lines) :]) == ["tool.execution_complete", "assistant.turn_end"]
    result = wire.loads(repaired.lines[len(lines)])["data"]
    assert (result["success"], result["error"]) == (False, {"message": INTERRUPTED, "code": "interrupted"})
    assert left(repaired.lines) == []


def test_a_log_that_begins_with_the_end_of_a_turn_gets_the_turns_start() -> None:
    end = next(line for line in TOOLS if wire.loads(line)["type"] == "assistant.turn_end")
    repaired = repair([end])
    assert types(repaired.lines) == ["assistant.turn_start", "assistant.turn_end"]
    times = [wire.loads(line)["timestamp"] for line in repaired.lines]
    assert times == [wire.loads(end)["timestamp"]] * 2


def test_a_turn_that_an_abort_left_open_is_ended_before_the_next_message() -> None:
    lines = lines_of("aborted")
    repaired = repair(lines)
    assert [change.text for change in repaired.changes] == [
        'turn "1" had no end: it was added',
        "the chain of parents was broken: 1 event has another one",
    ]
    assert len(repaired.lines) == len(lines) + 1
    assert audit(line + b"\n" for line in repaired.lines).findings == []


def test_what_is_no_event_is_set_aside_and_two_on_a_line_are_parted() -> None:
    """B97"""
    lines = [
        *TOOLS[:3],
        b"what is this?\n",
        TOOLS[3].rstrip(b"\n") + TOOLS[4],
        *TOOLS[5:],
        TOOLS[-1][:40],
    ]
    repaired = repair([*lines[:-1], b"\0" * 1728 + lines[-1]])
    assert repaired.lines == [line.rstrip(b"\n") for line in TOOLS]
    assert repaired.aside == [b"what is this?", b"\0" * 1728 + TOOLS[-1][:40]]
    assert repaired.changes == [
        Change(4, "13 bytes that are no event were set aside"),
        Change(5, "2 events stood on one line"),
        Change(len(lines), "1768 bytes that are no event were set aside"),
    ]


@pytest.mark.parametrize("line", range(1, len(TOOLS) - 1))
def test_a_log_less_any_one_line_is_mended(line: int) -> None:
    repaired = repair(TOOLS[:line] + TOOLS[line + 1 :])
    assert repaired.changes != []
    assert left(repaired.lines) == []


@pytest.mark.parametrize("line", range(len(TOOLS)))
def test_a_log_with_any_line_twice_is_as_it_was_before(line: int) -> None:
    repaired = repair(TOOLS[: line + 1] + TOOLS[line:])
    assert repaired.lines == [each.rstrip(b"\n") for each in TOOLS]
    assert repaired.aside == [TOOLS[line].rstrip(b"\n")]


def test_a_log_whose_first_lines_are_gone_tells_why_it_cant_be_mended() -> None:
    assert obstacle(repair(TOOLS[1:]).lines) == "it has no session.start, which says what session it is"
    assert obstacle(repair([]).lines) == "it has no session.start, which says what session it is"
    other = TOOLS[0].replace(b'"version":1', b'"version":2')
    assert obstacle(repair([other, *TOOLS[1:]]).lines) == "its version is 2, and not 1"


DAMAGES = st.lists(
    st.tuples(
        st.sampled_from(["drop", "repeat", "swap", "cut", "flip", "fuse", "nul"]), st.integers(0, 1 << 20)
    ),
    max_size=6,
)


@example("autopilot", [("drop", 1), ("fuse", 128000), ("swap", 8)])
@given(st.sampled_from(NAMES), DAMAGES)
def test_whatever_is_done_to_a_log_a_repair_leaves_nothing_to_repair(
    name: str, damages: list[tuple[str, int]]
) -> None:
    whole = lines_of(name)
    lines = list(whole)
    for kind, where in damages:
        damage(lines, kind, where)
    repaired = repair(lines)
    if obstacle(repaired.lines) is None:
        assert left(repaired.lines) == []
    assert repair([line + b"\n" for line in repaired.lines]) == (repaired.lines, [], [])
    kept = b"\n".join([*repaired.lines, *repaired.aside])
    assert [line for line in lines if line in whole and data_of(line) not in kept] == []


def data_of(line: bytes) -> bytes:
    """The bytes of an event's payload."""
    return bytes(wire.decode(line, dict[str, Raw])["data"])


def damage(lines: list[bytes], kind: str, where: int) -> None:
    """Do something to one of the lines."""
    if not lines:
        return
    at = where % len(lines)
    line = lines[at]
    match kind:
        case "drop":
            del lines[at]
        case "repeat":
            lines.insert(at, line)
        case "swap":
            lines[at], lines[at - 1] = lines[at - 1], line
        case "cut":
            lines[at] = line[: where % max(1, len(line))] + b"\n"
        case "flip":
            bit = where % (len(line) * 8)
            lines[at] = bytes(b ^ (1 << bit % 8) if i == bit // 8 else b for i, b in enumerate(line))
            lines[:] = b"".join(lines).splitlines(keepends=True)
        case "fuse":
            lines[at] = line.rstrip(b"\n")
            lines[:] = b"".join(lines).splitlines(keepends=True)
        case _:
            lines[at] = line.rstrip(b"\n") + b"\0" * (where % 64) + b"\n"
