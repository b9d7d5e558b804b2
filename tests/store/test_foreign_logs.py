"""Logs that another runtime wrote: listed, resumed, gone on with, and kept to the byte."""

from pathlib import Path

import anyio
import pytest

from tests.cases.scene import words
from tests.cases.wired import serving
from tests.engine.harness import Recorder, options, running
from tests.store.logs import bring, events_of, lines_of
from turnwright.protocol import wire
from turnwright.protocol.envelope import parse
from turnwright.protocol.events.conversation import UserMessage
from turnwright.protocol.events.session import Shutdown
from turnwright.protocol.messages import Assistant, ToolCall, ToolOutput, User
from turnwright.providers.scripted import Scripted, text
from turnwright.store.audit import audit
from turnwright.store.finding import note
from turnwright.store.history import INTERRUPTED, History
from turnwright.store.jsonl import LOG_NAME, JsonlStore

pytestmark = pytest.mark.anyio

TITLES = {
    "tools": "List the beds, then look the rose up — 🌹.",
    "autopilot": "Water everything.",
    "killed": "Dig for a while.",
}


@pytest.mark.parametrize("name", TITLES)
async def test_it_is_listed_with_its_place_and_title(name: str, tmp_path: Path) -> None:
    session_id = bring(name, tmp_path / "home")
    async with serving(tmp_path) as server:
        listed = await server.connect().call(
            "session.list", filter={"repository": "acme/garden", "branch": "main"}
        )
        events = events_of(name)
        assert listed == {
            "sessions": [
                {
                    "sessionId": session_id,
                    "startTime": wire.loads(events[0].encoded)["data"]["startTime"],
                    "modifiedTime": events[-1].timestamp,
                    "isRemote": False,
                    "isDetached": False,
                    "summary": TITLES[name],
                    "name": TITLES[name],
                    "context": wire.loads(events[0].encoded)["data"]["context"],
                }
            ]
        }
        server.log_of(session_id).unlink()  # a killed session's turn is open, which the server's end minds


def test_an_event_whose_text_was_cut_within_an_emoji_is_read_and_kept_as_it_was() -> None:
    """B47: JavaScript writes half of the pair as an escape, which strict parsers refuse."""
    line = rb'{"type":"user.message","data":{"content":"a rose \ud83c"},"id":"1"}'
    event = parse(line)
    assert (event.data, event.encoded) == (UserMessage("a rose \ufffd"), line)


@pytest.mark.parametrize("name", TITLES)
async def test_it_goes_on_with_every_line_as_it_was(name: str, tmp_path: Path) -> None:
    """B90"""
    session_id = bring(name, tmp_path / "home")
    async with serving(tmp_path, [text("Gladly.")]) as server:
        client = server.connect()
        await client.call("session.resume", sessionId=session_id, workingDirectory=str(tmp_path))
        raw = bytes(await client.peer.call("session.getMessages", {"sessionId": session_id}))
        for line in lines_of(name):
            assert line.rstrip(b"\n") in raw
        await client.call("session.send", sessionId=session_id, prompt="Go on.")
        await client.until("session.idle")
        assert words(server.model.requests[0])[-1] == "Go on."
        await client.call("session.destroy", sessionId=session_id)
        log = server.log_of(session_id).read_bytes()
        assert log.startswith(b"".join(lines_of(name)))
        assert audit(log.splitlines(keepends=True)).findings == []


async def test_cutting_it_back_keeps_what_stays_to_the_byte(tmp_path: Path) -> None:
    """B90"""
    session_id = bring("tools", tmp_path / "home")
    last = events_of("tools")[-1]
    async with serving(tmp_path) as server:
        client = server.connect()
        await client.call("session.resume", sessionId=session_id, workingDirectory=str(tmp_path))
        await client.call("session.history.truncate", sessionId=session_id, eventId=last.id)
        assert server.log_of(session_id).read_bytes() == b"".join(lines_of("tools")[:-1])


async def test_what_a_kill_left_open_is_answered_before_it_goes_on(tmp_path: Path) -> None:
    """B16"""
    session_id = bring("killed", tmp_path / "home")
    async with serving(tmp_path) as server:
        client = server.connect()
        await client.call("session.resume", sessionId=session_id, workingDirectory=str(tmp_path))
        added = [
            wire.loads(line)
            for line in server.log_of(session_id).read_bytes().splitlines()[len(lines_of("killed")) :]
        ]
        assert [event["type"] for event in added] == [
            "tool.execution_complete",
            "assistant.turn_end",
            "session.resume",
        ]
        assert added[0]["data"]["toolCallId"] == "call_1_0"
        assert added[0]["data"]["error"]["message"] == INTERRUPTED
        assert added[1]["data"] == {"turnId": "1"}


async def test_totals_go_on_from_those_of_the_log(tmp_path: Path) -> None:
    session_id = bring("tools", tmp_path / "home")
    async with serving(tmp_path, [text("Gladly.")]) as server:
        client = server.connect()
        await client.call("session.resume", sessionId=session_id, workingDirectory=str(tmp_path))
        await client.call("session.send", sessionId=session_id, prompt="Go on.")
        await client.until("session.idle")
        await client.call("session.destroy", sessionId=session_id)
        ends = [e.data for e in server.logged(session_id) if isinstance(e.data, Shutdown)]
    assert ends[1].model_metrics == {
        "small-model": {
            "requests": {"count": 4, "cost": 0},
            "usage": {
                "inputTokens": 340,
                "outputTokens": 16,
                "cacheReadTokens": 120,
                "cacheWriteTokens": 0,
                "reasoningTokens": 0,
            },
            "totalNanoAiu": 0,
        }
    }
    assert ends[1].total_api_duration_ms >= ends[0].total_api_duration_ms
    assert ends[1].session_start_time == ends[0].session_start_time


def test_a_model_is_told_what_was_said_and_done() -> None:
    history = History()
    for event in events_of("tools"):
        history.apply(event)
    prompt, *rest = history.messages
    assert isinstance(prompt, User)
    assert prompt.content.endswith(TITLES["tools"])
    assert rest == [
        Assistant(
            "",
            (
                ToolCall("call_1_0", "bash", '{"command":"ls beds","description":"list beds"}'),
                ToolCall("call_1_1", "view", '{"path":"/srv/garden/notes.txt"}'),
            ),
        ),
        ToolOutput("call_1_0", "north\nsouth\n<shellId: 0 completed with exit code 0>"),
        ToolOutput("call_1_1", "1. roses 🌹\n2. "),
        Assistant("", (ToolCall("call_2_0", "lookup", '{"word":"rose"}'),)),
        ToolOutput("call_2_0", "rose: a flower"),
        Assistant("Two beds, and a rose is a flower."),
    ]


async def test_a_turn_that_an_abort_left_open_is_ended_when_it_goes_on(tmp_path: Path) -> None:
    session_id = bring("aborted", tmp_path)
    store = JsonlStore(tmp_path / "session-state")
    with anyio.fail_after(10):
        async with running(Scripted(), tmp_path, store) as runtime:
            await runtime.resume(session_id, options(tmp_path), Recorder())
    report = audit((store.folder(session_id) / LOG_NAME).read_bytes().splitlines(keepends=True))
    assert report.findings == [note(19, "turn", 'turn "1" of line 10 ends here, after others began')]
