"""Logs of long sessions: turns with calls whose results are source code, and summaries in between."""

import random
import textwrap
from collections.abc import Iterator
from pathlib import Path

from turnwright.protocol import wire
from turnwright.protocol.envelope import Event, seal
from turnwright.protocol.events import Data
from turnwright.protocol.events.compaction import CompactionComplete, CompactionStart
from turnwright.protocol.events.conversation import (
    AssistantMessage,
    SystemMessage,
    ToolRequest,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnwright.protocol.events.session import Context, SessionStart, UsageRecord
from turnwright.protocol.events.tools import FileEdited, ToolComplete, ToolStart, ToolSuccess
from turnwright.store.history import History

TURNS_OF_A_PROMPT = 25
EVENTS_OF_A_TURN = 6
EDIT_EVERY = 6


class LongLog:
    """Yields the events of a session, one after the other; the same ones for the same seed."""

    def __init__(self, *, seed: int = 1, output: int = 7000, turns_of_a_summary: int = 800) -> None:
        self._random = random.Random(seed)
        self._output = output
        self._turns_of_a_summary = turns_of_a_summary
        self._parent: str | None = None
        self._history = History()
        self._code = Path(textwrap.__file__).read_text("utf-8")

    def events(self, count: int) -> Iterator[Event]:
        """About so many events."""
        start = SessionStart("big", 1, "turnwright", "0", wire.now(), None, Context("/srv"), False, False)
        yield self._seal(start)
        turns = count // EVENTS_OF_A_TURN
        for turn in range(turns):
            if turn % TURNS_OF_A_PROMPT == 0:
                yield self._seal(SystemMessage(self._text(12_000), "system"))
                yield self._seal(UserMessage(self._text(200), transformed_content=self._text(300)))
            yield from map(self._seal, self._turn(turn))
            if turn % self._turns_of_a_summary == self._turns_of_a_summary - 1:
                yield self._seal(CompactionStart(1, 1, 1, 1, 1, "threshold"))
                removed = len(self._history.messages)
                yield self._seal(
                    CompactionComplete(
                        True, "threshold", summary_content=self._text(4000), messages_removed=removed
                    )
                )

    def _turn(self, turn: int) -> Iterator[Data]:
        call_id, turn_id = f"call_{turn}", str(turn % TURNS_OF_A_PROMPT)
        usage = {"model": "m", "inputTokens": 9000, "outputTokens": 200, "duration": 1200.5}
        is_edit = turn % EDIT_EVERY == 0
        arguments = (
            {"path": "/srv/a.py", "file_text": self._text(400)} if is_edit else {"command": "cat a.py"}
        )
        name = "edit" if is_edit else "bash"
        yield TurnStart(turn_id, wire.new_id())
        yield UsageRecord(usage)
        request = ToolRequest(call_id, name, "function", arguments)
        yield AssistantMessage(wire.new_id(), self._text(200), [request], model="m", turn_id=turn_id)
        yield ToolStart(call_id, name, arguments, turn_id, "m")
        text = self._text(300 if is_edit else self._output)
        done = ToolComplete(call_id, True, model="m", turn_id=turn_id, result=ToolSuccess(text, text))
        if is_edit:
            done.file_edits = [FileEdited("/srv/a.py", "update")]
            done.tool_telemetry = {"metrics": {"linesAdded": 3, "linesRemoved": 1}}
        yield done
        yield TurnEnd(turn_id)

    def _seal(self, data: Data) -> Event:
        event = seal(data, parent_id=self._parent)
        self._parent = event.id
        self._history.apply(event)
        return event

    def _text(self, length: int) -> str:
        start = self._random.randrange(max(1, len(self._code) - length))
        return self._code[start : start + length]
