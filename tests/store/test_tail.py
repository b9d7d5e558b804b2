"""Logs that a crash, a power loss or another program has damaged: what is whole is kept."""

import itertools
import logging
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.harness import Recorder, options, running, say
from tests.faults.long_log import LongLog
from tests.store.held import held, place, set_aside
from turnwright.protocol.events.session import Warned
from turnwright.providers.scripted import Scripted, text
from turnwright.store.audit import audit
from turnwright.store.jsonl import JsonlStore
from turnwright.store.load import load
from turnwright.store.memory import MemoryLog
from turnwright.store.mend import Damage
from turnwright.store.salvage import events_of, salvage

EVENTS = [event.encoded for event in LongLog(output=120).events(24)]
WHOLE = b"".join(line + b"\n" for line in EVENTS)
SPAN = len(EVENTS[6]) + len(EVENTS[7]) + 2
FOREIGN = b'{"level":30,"time":1,"msg":"a line of another program"}'


def lines(data: bytes) -> list[bytes]:
    """The lines of a file that ends as it should."""
    assert data.endswith(b"\n") or not data
    return data.splitlines()


def mended(root: Path, data: bytes) -> tuple[list[bytes], bytes, Damage | None]:
    """What a log of these bytes holds once it was loaded, what was set aside, and what was said of it."""
    file = place(root, data)
    with held(root) as log:
        damage = load(log).damage
        log.append(b'{"more":1}')
    kept = lines(file.read_bytes())
    assert kept.pop() == b'{"more":1}'
    return kept, set_aside(root), damage


def test_a_log_cut_at_any_byte_keeps_each_whole_event_and_goes_on_with_a_new_line(tmp_path: Path) -> None:
    """B97. Every byte of a longer log is tried by scripts/faults."""
    for cut in range(len(WHOLE) - SPAN, len(WHOLE), 5):
        whole = whole_before(cut)
        rest = WHOLE[:cut].removeprefix(b"\n".join(EVENTS[:whole])).lstrip(b"\n")
        kept, aside, damage = mended(tmp_path / str(cut), WHOLE[:cut])
        assert kept == EVENTS[:whole]
        assert aside == (rest + b"\n" if rest else b"")
        assert damage == (Damage(whole + 1, 1, len(rest)) if rest else None)


def whole_before(cut: int) -> int:
    """How many events end before a byte; the line break after the last one is not needed."""
    ends = itertools.accumulate(len(line) + 1 for line in EVENTS)
    return sum(end - 1 <= cut for end in ends)


@pytest.mark.parametrize("nuls", [1, 7, 1728, 70_000])
def test_nuls_behind_the_last_event_are_set_aside(tmp_path: Path, nuls: int) -> None:
    """B97"""
    assert mended(tmp_path, WHOLE + b"\0" * nuls) == (
        EVENTS,
        b"\0" * nuls + b"\n",
        Damage(len(EVENTS) + 1, 1, nuls),
    )


@pytest.mark.parametrize(
    ("spoiled", "kept", "aside"),
    [
        pytest.param(EVENTS[3] + EVENTS[4], EVENTS, b"", id="fused"),
        pytest.param(EVENTS[3] + b"\0\0\0" + EVENTS[4], EVENTS, b"\0\0\0\n", id="NULs between"),
        pytest.param(EVENTS[3] + b"*" + EVENTS[4], EVENTS, b"*\n", id="the line break is another byte"),
        pytest.param(
            EVENTS[3][:-9] + EVENTS[4],
            EVENTS[:3] + EVENTS[4:],
            EVENTS[3][:-9] + b"\n",
            id="a cut event and a whole one",
        ),
        pytest.param(
            EVENTS[3] + b"\n" + FOREIGN + b"\n" + EVENTS[4], EVENTS, FOREIGN + b"\n", id="another program's"
        ),
        pytest.param(
            EVENTS[3] + b"\nTraceback (most recent call last):\n" + EVENTS[4],
            EVENTS,
            b"Traceback (most recent call last):\n",
            id="text",
        ),
        pytest.param(EVENTS[3] + b"\n\n" + EVENTS[4], EVENTS, b"", id="an empty line"),
        pytest.param(
            EVENTS[3] + b"\n" + EVENTS[4].replace(b"data", b"d\xffta"),
            EVENTS[:4] + EVENTS[5:],
            EVENTS[4].replace(b"data", b"d\xffta") + b"\n",
            id="not UTF-8",
        ),
        pytest.param(
            EVENTS[3] + b"\n" + b'{"type":' * 20_000 + b"\n" + EVENTS[4],
            EVENTS,
            b'{"type":' * 20_000 + b"\n",
            id="deep",
        ),
    ],
)
def test_what_is_no_event_in_the_middle_is_set_aside_and_the_rest_stays(
    tmp_path: Path, spoiled: bytes, kept: list[bytes], aside: bytes
) -> None:
    before, after = b"\n".join(EVENTS[:3]), b"\n".join(EVENTS[5:])
    found = mended(tmp_path, before + b"\n" + spoiled + b"\n" + after + b"\n")
    assert found[:2] == (kept, aside)
    assert found[2] is not None
    assert found[2].first_line in (4, 5)


def test_an_event_quoted_in_a_cut_line_is_not_taken_for_one_of_the_log() -> None:
    quoted = EVENTS[4].rstrip(b"}") + b"}"
    cut = b'{"type":"tool.execution_start","data":{"arguments":{"event":' + quoted
    assert [piece.event for piece in salvage(cut, ended=False)] == [None]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_events_that_no_flipped_bit_has_hit_are_kept_byte_for_byte(data: st.DataObject) -> None:
    spoiled = bytearray(WHOLE)
    hit = data.draw(st.lists(st.integers(0, len(WHOLE) * 8 - 1), min_size=1, max_size=3))
    for bit in hit:
        spoiled[bit // 8] ^= 1 << bit % 8
    starts = [sum(len(line) + 1 for line in EVENTS[:n]) for n in range(len(EVENTS) + 1)]
    spared = [
        line
        for line, start, end in zip(EVENTS, starts, starts[1:], strict=False)
        if not any(start <= bit // 8 < end for bit in hit)
    ]
    found = [event.encoded for event in events_of(bytes(spoiled).split(b"\n"))]
    assert [line for line in found if line in spared] == spared


def test_a_log_in_memory_is_mended_too() -> None:
    log = MemoryLog()
    for line in [*EVENTS[:2], FOREIGN, *EVENTS[2:]]:
        log.append(line)
    assert load(log).damage == Damage(3, 1, len(FOREIGN))
    assert (log.lines, log.aside) == (EVENTS, [FOREIGN])


@pytest.mark.anyio
async def test_the_client_that_resumes_a_damaged_session_is_warned_and_the_log_is_sound(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """B97"""
    root = tmp_path / "session-state"
    store = JsonlStore(root)
    with anyio.fail_after(20):
        async with running(Scripted([text("one"), text("two")]), tmp_path, store) as runtime:
            client = Recorder()
            session = await runtime.create(options(tmp_path, session_id="s"), client)
            say(session, "hi")
            await client.until("session.idle")
            await runtime.unload("s")
            log = root / "s" / "events.jsonl"
            log.write_bytes(log.read_bytes() + b'{"type":"user.mess' + b"\0" * 1728)
            with caplog.at_level(logging.WARNING):
                session = await runtime.resume("s", options(tmp_path), client)
            say(session, "again")
            await client.until("session.idle", 2)
    warnings = [event for event in client.events if isinstance(event.data, Warned)]
    assert [event.ephemeral for event in warnings] == [True]
    assert caplog.messages == [w.data.message for w in warnings if isinstance(w.data, Warned)]
    assert set_aside(root) == b'{"type":"user.mess' + b"\0" * 1728 + b"\n"
    assert audit(log.read_bytes().splitlines(keepends=True)).findings == []


@pytest.mark.parametrize("kind", ["session.usage_record", "assistant.message", "assistant.turn_start"])
def test_an_event_that_is_nested_beyond_reading_is_set_aside(tmp_path: Path, kind: str) -> None:
    line = next(line for line in EVENTS if line.startswith(b'{"type":"%s"' % kind.encode()))
    deep = line.replace(b'"data":{', b'"data":{"deep":' + b"[" * 100_000 + b"]" * 100_000 + b",", 1)
    spoiled = b"\n".join((*EVENTS[:5], deep, *EVENTS[5:])) + b"\n"
    assert mended(tmp_path, spoiled) == (EVENTS, deep + b"\n", Damage(6, 1, len(deep)))
