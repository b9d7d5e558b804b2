"""The readers of a log: what loads and mends it, and what repairs it."""

from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path

from tests.faults.broken_logs import CutLog
from tests.fuzzing.target import JSON_TOKENS, Target, require
from turnwright.store.audit import audit
from turnwright.store.load import load, load_state
from turnwright.store.repair import obstacle, repair
from turnwright.store.salvage import event_of

_TYPES = (
    *("assistant.message", "assistant.turn_start", "assistant.turn_end", "tool.execution_complete"),
    *("session.usage_record", "session.compaction_complete", "permission.requested", "permission.completed"),
)


SESSION = tuple(Path(__file__).with_name("session.jsonl").read_bytes().splitlines())
"""A small session with an edit, a question, a summary, and a turn that is still open."""
PART = 3
"""Lines of most samples: short ones are tried faster."""


def _samples() -> list[bytes]:
    fused = _joined(SESSION[:3]) + SESSION[3] + b"\0\0\0" + SESSION[4] + b"\n"
    cut = _joined(SESSION[:5])[:-9]
    parts = [_joined(SESSION[start : start + PART]) for start in range(0, len(SESSION), 2)]
    return [fused, cut, *parts, *(_joined((SESSION[0], _deep(line))) for line in SESSION[4::4])]


def _deep(line: bytes) -> bytes:
    """An event whose payload has one more field, nested beyond what can be decoded."""
    return line.replace(b'"data":{', b'"data":{"deep":' + b"[" * 1100 + b",", 1)


def _joined(lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _whole_start(data: bytes) -> list[bytes]:
    """The lines before the first that was damaged, or that nobody wrote."""
    return list(takewhile(SESSION.__contains__, data.split(b"\n")[:-1]))


def _load(data: bytes) -> None:
    whole = _whole_start(data)
    log = CutLog(data)
    load(log)
    require(log.lines[: len(whole)] == whole, "an event before the first damage is lost")
    require(log.is_ended, "the next event would not stand on a line of its own")
    again = CutLog(_joined(log.lines))
    damage = load(again).damage
    require(damage is None and again.lines == log.lines, "a log that was mended is damaged")
    load_state([[line + b"\n" for line in data.split(b"\n")]])


def _repair(data: bytes) -> None:
    repaired = repair(data.splitlines(keepends=True))
    require(all(event_of(line) is not None for line in repaired.lines), "what is no event was kept")
    kept = b"\n".join((*repaired.lines, *repaired.aside))
    require(
        all(_payload(line) in kept for line in _whole_start(data)), "an event before the first damage is lost"
    )
    obstacle(repaired.lines)
    audit(data.splitlines(keepends=True))
    audit(line + b"\n" for line in repaired.lines)


def _payload(line: bytes) -> bytes:
    """What a repair may not change of an event."""
    return line.partition(b'"data":')[2].rpartition(b',"id":"')[0]


_TOKENS = (
    *JSON_TOKENS,
    *(b'{"type":"%s","data":{' % name.encode() for name in _TYPES),
    *(b'"id":"', b'"parentId":', b'"timestamp":"', b'"agentId":"a"', b'"ephemeral":true', b'"turnId":"0"'),
    *(b'"toolRequests":[', b'"usage":{', b'"requestId":"', b'"messagesRemoved":', b"\0" * 40),
)
LOG = Target("log", _samples, _TOKENS, _load)
REPAIR = Target("repair", _samples, _TOKENS, _repair)
