"""The audit of logs: sound ones pass, and whatever is wrong is named with its line."""

import pytest

from tests.store.logs import lines_of
from turnwright.protocol import wire
from turnwright.store.audit import Report, audit
from turnwright.store.finding import Finding, broken, note

TOOLS = lines_of("tools")

# Lines of that log, counted from 1
PROMPT, FIRST_TURN, FIRST_REPLY, FIRST_CALL, FIRST_ASKED = 2, 4, 6, 7, 9
SECOND_RESULT, FIRST_RESULT, FIRST_END, UNKNOWN, SECOND_TURN = 13, 14, 15, 16, 17


def without(line: int) -> list[bytes]:
    """The log less one line, its chain closed again."""
    return chained(TOOLS[: line - 1] + TOOLS[line:])


def twice(line: int) -> list[bytes]:
    """The log with one line once more after itself, under an id of its own."""
    event = {**wire.loads(TOOLS[line - 1]), "id": "again"}
    return chained([*TOOLS[:line], wire.encode(event) + b"\n", *TOOLS[line:]])


def changed(line: int, **fields: object) -> list[bytes]:
    """The log with other fields in the envelope of a line."""
    event = {**wire.loads(TOOLS[line - 1]), **fields}
    return [*TOOLS[: line - 1], wire.encode(event) + b"\n", *TOOLS[line:]]


def other(line: int, old: bytes, new: bytes) -> list[bytes]:
    """The log with other text in a line."""
    assert old in TOOLS[line - 1]
    return [*TOOLS[: line - 1], TOOLS[line - 1].replace(old, new), *TOOLS[line:]]


def chained(lines: list[bytes]) -> list[bytes]:
    """The same events, each the child of the one before."""
    parent = None
    found: list[bytes] = []
    for line in lines:
        event = {**wire.loads(line), "parentId": parent}
        parent = event["id"]
        found.append(wire.encode(event) + b"\n")
    return found


def id_of(line: int) -> str:
    return wire.loads(TOOLS[line - 1])["id"]


def question() -> str:
    return wire.loads(TOOLS[FIRST_ASKED - 1])["data"]["requestId"]


@pytest.mark.parametrize(
    ("name", "report"),
    [
        ("tools", Report(31, 3, 3, [])),
        ("autopilot", Report(18, 2, 1, [])),
        (
            "killed",
            Report(
                15,
                2,
                2,
                [
                    broken(8, "turn", 'turn "1" has no end: its process was killed, or it still runs'),
                    broken(10, "call", "call_1_0 has no result"),
                ],
            ),
        ),
        (
            "aborted",
            Report(18, 3, 1, [broken(10, "turn", 'turn "1" has no end: the run was aborted in line 11')]),
        ),
    ],
)
def test_logs_of_another_runtime_are_reported_as_they_are(name: str, report: Report) -> None:
    assert audit(lines_of(name)) == report


@pytest.mark.parametrize(
    ("lines", "findings"),
    [
        ([], [broken(1, "start", "the log is empty")]),
        (without(1), [broken(1, "start", "session.start has to be the first line, and no other")]),
        (twice(1), [broken(2, "start", "session.start has to be the first line, and no other")]),
        (
            other(1, b'"version":1,', b'"version":2,'),
            [broken(1, "start", "the log's version is 2, and not 1")],
        ),
        (
            other(1, b'"version":1,', b'"version":"1",'),
            [broken(1, "shape", "session.start has not the fields of its type")],
        ),
        (
            changed(SECOND_TURN, parentId=None),
            [broken(17, "chain", f"its parent is None, but {id_of(UNKNOWN)} stands before it")],
        ),
        (
            TOOLS[: UNKNOWN - 1] + TOOLS[UNKNOWN:],
            [broken(16, "chain", f"its parent is {id_of(UNKNOWN)}, but {id_of(FIRST_END)} stands before it")],
        ),
        (
            chained([*TOOLS, TOOLS[UNKNOWN - 1]]),
            [
                broken(32, "id", f"the id '{id_of(UNKNOWN)}' is not its own"),
                note(
                    32,
                    "time",
                    "2026-03-05T08:00:00.119Z is before what stands above: a clock was set back",
                ),
            ],
        ),
        (
            changed(UNKNOWN, timestamp="yesterday"),
            [broken(16, "time", "'yesterday' is no ISO 8601 time with a time zone")],
        ),
        (
            changed(UNKNOWN, timestamp="2026-03-05T08:00:00"),
            [broken(16, "time", "'2026-03-05T08:00:00' is no ISO 8601 time with a time zone")],
        ),
        (
            changed(UNKNOWN, ephemeral=True),
            [broken(16, "ephemeral", "garden.forecast is ephemeral: it belongs into no log")],
        ),
        (
            changed(UNKNOWN, type="session.idle", data={}),
            [broken(16, "ephemeral", "session.idle is ephemeral: it belongs into no log")],
        ),
    ],
)
def test_a_fault_of_the_envelope_is_named_with_its_line(lines: list[bytes], findings: list[Finding]) -> None:
    assert audit(lines).findings == findings


@pytest.mark.parametrize(
    ("lines", "findings"),
    [
        (
            without(FIRST_TURN),
            [
                broken(5, "turn", "a reply outside of every turn"),
                broken(14, "turn", 'turn "0" ends, which is not open'),
                broken(16, "turn", 'turn "1" begins where 0 should'),
            ],
        ),
        (without(FIRST_END), [broken(4, "turn", 'turn "0" has no end')]),
        (twice(FIRST_END), [broken(16, "turn", 'turn "0" ends, which is not open')]),
        (
            twice(FIRST_TURN),
            [
                broken(4, "turn", 'turn "0" has no end'),
                broken(5, "turn", 'turn "0" begins where 1 should'),
            ],
        ),
        (
            other(FIRST_TURN, b'"turnId":"0"', b'"turnId":"1"'),
            [
                broken(4, "turn", 'turn "1" begins where 0 should'),
                broken(4, "turn", 'turn "1" has no end'),
                broken(15, "turn", 'turn "0" ends, which is not open'),
                broken(17, "turn", 'turn "1" begins where 2 should'),
            ],
        ),
        (without(FIRST_RESULT), [broken(6, "call", "call_1_0 has no result")]),
        (twice(FIRST_RESULT), [broken(15, "call", "call_1_0 has a second result")]),
        (twice(FIRST_CALL), [broken(8, "call", "call_1_0 starts again")]),
        (
            other(FIRST_REPLY, b"call_1_0", b"call_1_1"),
            [
                broken(6, "call", "call_1_1 is asked for twice"),
                broken(7, "call", "call_1_0 starts, which is not asked for here"),
                broken(14, "call", "call_1_0 has a result, which is not asked for here"),
            ],
        ),
        (without(FIRST_ASKED), [broken(10, "question", f"{question()} is answered, but not open")]),
    ],
)
def test_a_turn_or_call_that_does_not_add_up_is_named_with_its_line(
    lines: list[bytes], findings: list[Finding]
) -> None:
    assert sorted(audit(lines).findings, key=str) == sorted(findings, key=str)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"\xff\n", "not UTF-8: byte 0 is 0xff"),
        (b"\n", "not an event: Input data was truncated"),
        (b"\0\0\0\n", "not an event: JSON is malformed: invalid character (byte 0)"),
        (b'{"type":"x","id":"1"}\n', "not an event: Object missing required field `data`"),
    ],
)
def test_a_line_that_is_no_event_is_the_only_one_named(line: bytes, text: str) -> None:
    lines = [*TOOLS[:FIRST_END], line, *TOOLS[FIRST_END:]]
    assert audit(lines).findings == [broken(16, "line", text)]


def test_a_last_line_that_is_cut_short_is_named() -> None:
    findings = audit([*TOOLS[:-1], TOOLS[-1][:100]]).findings
    assert [(finding.line, finding.rule) for finding in findings] == [(31, "line"), (31, "line")]


def test_a_call_that_waits_for_an_answer_is_not_broken() -> None:
    report = audit(TOOLS[:FIRST_ASKED])
    assert report.findings == [
        note(4, "turn", 'turn "0" waits for the answer to a question'),
        note(6, "call", "call_1_0 waits for the answer to a question"),
        broken(6, "call", "call_1_1 has no result"),
    ]
    assert not report.is_sound
    assert audit(TOOLS[: FIRST_ASKED + 1]).is_sound


def test_a_turn_that_is_ended_after_others_began_is_worth_a_note() -> None:
    end = wire.loads(TOOLS[FIRST_END - 1])
    late = wire.encode({**end, "id": "late", "timestamp": "2026-03-05T09:00:00.000Z"}) + b"\n"
    report = audit(chained([*TOOLS[: FIRST_END - 1], *TOOLS[FIRST_END:], late]))
    assert report.findings == [note(31, "turn", 'turn "0" of line 4 ends here, after others began')]


def test_agents_have_turns_of_their_own() -> None:
    def of_agent(line: bytes, number: int) -> bytes:
        return wire.encode({**wire.loads(line), "id": f"agent-{number}", "agentId": "gardener"}) + b"\n"

    inner = [of_agent(line, number) for number, line in enumerate(TOOLS[FIRST_TURN - 1 : FIRST_END])]
    report = audit(chained([*TOOLS[:FIRST_CALL], *without_questions(inner), *TOOLS[FIRST_CALL:]]))
    assert (report.turns, report.calls) == (4, 5)
    assert [finding for finding in report.findings if finding.broken] == []


def without_questions(lines: list[bytes]) -> list[bytes]:
    return [line for line in lines if b'"permission.' not in line]


def test_a_call_that_the_user_made_needs_no_reply() -> None:
    calls = [
        {"type": f"tool.{step}", "data": {"toolCallId": "mine", "toolName": "bash", "success": True}}
        for step in ("user_requested", "execution_start", "execution_complete")
    ]
    time = {"timestamp": "2026-03-05T09:00:00.000Z"}
    lines = [wire.encode({**call, **time, "id": f"u{n}"}) + b"\n" for n, call in enumerate(calls)]
    assert audit(chained([*TOOLS, *lines])).findings == []
