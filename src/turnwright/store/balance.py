"""Turns and calls are made to add up: what was cut off is ended, what belongs to nothing is set aside."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from turnwright.protocol.envelope import Event, seal
from turnwright.protocol.events import Data
from turnwright.protocol.events.conversation import AssistantMessage, TurnEnd, TurnStart, UserMessage
from turnwright.protocol.events.questions import (
    ExternalToolCompleted,
    ExternalToolRequested,
    PermissionCompleted,
    PermissionRequested,
)
from turnwright.protocol.events.session import SessionResume
from turnwright.protocol.events.tools import ToolComplete, ToolFailure, ToolStart
from turnwright.store.accounts import user_requested_call
from turnwright.store.audit import agent_of, call_of
from turnwright.store.history import INTERRUPTED


class Entry(NamedTuple):
    """An event of the line from which it is; what `why` is said of was put in, or is to be taken out."""

    line: int
    event: Event
    why: str = ""
    is_new: bool = False


def balanced(entries: Iterable[Entry]) -> list[Entry]:
    """The entries and those that were missing among them; what has a reason and isn't new goes out."""
    entries = list(entries)
    ended = _ended(entries)
    while True:
        found, left_open = _walk(entries, ended)
        if not left_open:
            return found
        ended -= left_open


def _walk(entries: list[Entry], ended: set[str]) -> tuple[list[Entry], set[str]]:
    """What `balanced` gives if the starts in `ended` have their end, and which of them had none.

    An end may be that of a turn whose own start is missing.
    """
    found: list[Entry] = []
    accounts: dict[str, _Account] = {}
    questions: dict[str, str] = {}
    line = 0
    for entry in entries:
        line = entry.line
        match entry.event.data:
            case PermissionRequested() | ExternalToolRequested() as asked:
                questions[asked.request_id] = call_of(asked)
            case PermissionCompleted() | ExternalToolCompleted() as answered:
                if questions.pop(answered.request_id, None) is None:
                    found.append(entry._replace(why=f"{answered.request_id} is answered, but was not open"))
                    continue
            case _:
                pass
        agent = agent_of(entry.event)
        if agent not in accounts:
            accounts[agent] = _Account(agent, ended)
        found += accounts[agent].see(entry)
    for account in accounts.values():
        found += account.close(line, {*questions.values()})
    return found, {start for account in accounts.values() for start in account.left_open()} & ended


def _ended(entries: Iterable[Entry]) -> set[str]:
    """The starts of turns that have their end, be it late, by the events' ids."""
    found: set[str] = set()
    open_turns: dict[tuple[str | None, str], list[str]] = {}
    for _, event, *_ in entries:
        match event.data:
            case TurnStart(turn_id=turn_id):
                open_turns.setdefault((event.agent_id, turn_id), []).append(event.id)
            case TurnEnd(turn_id=turn_id) if starts := open_turns.get((event.agent_id, turn_id)):
                found.add(starts.pop())
            case _:
                pass
    return found


class _Account:
    """One agent's turn, and the calls of its last reply: whether each was started, and answered."""

    def __init__(self, agent: str, ended: set[str]) -> None:
        self._agent = agent
        self._ended = ended
        self._turn: TurnStart | None = None
        self._turn_event: Event | None = None
        self._late: list[tuple[str, str]] = []
        self._next_ids = {"0"}
        self._calls: dict[str, list[bool]] = {}

    def see(self, entry: Entry) -> Iterator[Entry]:
        event, line = entry.event, entry.line
        match event.data:
            case UserMessage():
                yield from self._end_lost_turn(line)
                self._next_ids.add("0")
            case SessionResume():
                self._next_ids.add("0")
            case TurnStart() as data:
                yield from self._end_lost_turn(line)
                yield from self._interrupt(line)
                self._begin(data, event)
            case TurnEnd() as data:
                yield from self._end(data, entry)
                return
            case AssistantMessage(tool_requests=requests) as data:
                if self._turn is None and not self._agent:
                    yield from self._begin_missing(data.turn_id, data.interaction_id, line)
                yield from self._interrupt(line)
                self._calls = {request.tool_call_id: [False, False] for request in requests}
            case ToolStart(tool_call_id=call_id):
                yield from self._once(call_id, 0, entry, "starts")
                return
            case ToolComplete(tool_call_id=call_id):
                yield from self._once(call_id, 1, entry, "has a result")
                return
            case _ if asked := user_requested_call(event):
                self._calls[asked] = [False, False]
            case _:
                pass
        yield entry

    def close(self, line: int, asked_about: set[str]) -> Iterator[Entry]:
        """End what is open, unless it waits for the answer to a question."""
        if not asked_about.isdisjoint(self._calls):
            for call_id in asked_about:
                self._calls.pop(call_id, None)
            yield from self._interrupt(line)
        else:
            yield from self._interrupt(line)
            yield from self._end_lost_turn(line)

    def left_open(self) -> Iterator[str]:
        """The starts of the turns that are still open, by the events' ids."""
        yield from (start for _, start in self._late)
        if self._turn is not None and self._turn_event is not None:
            yield self._turn_event.id

    def _begin(self, data: TurnStart, event: Event) -> None:
        if self._turn is not None and self._turn_event is not None:
            self._late.append((self._turn.turn_id, self._turn_event.id))
        self._turn, self._turn_event = data, event
        number = int(data.turn_id) if data.turn_id.isdecimal() else -1
        self._next_ids = {str(number + 1)} | ({"0"} if self._agent else set[str]())

    def _begin_missing(self, turn_id: str | None, interaction: str | None, line: int) -> Iterator[Entry]:
        data = TurnStart(turn_id if turn_id in self._next_ids else max(self._next_ids), interaction)
        new = self._new(data, line, f'turn "{data.turn_id}" had no start')
        self._begin(data, new.event)
        yield new

    def _end(self, data: TurnEnd, entry: Entry) -> Iterator[Entry]:
        late = next((turn for turn in reversed(self._late) if turn[0] == data.turn_id), None)
        if self._turn is None and late is None and data.turn_id in self._next_ids:
            yield from self._begin_missing(data.turn_id, None, entry.line)
        if self._turn is not None and self._turn.turn_id == data.turn_id:
            yield from self._interrupt(entry.line)
            self._turn = None
        elif late is not None:
            self._late.remove(late)
        else:
            entry = entry._replace(why=f'turn "{data.turn_id}" ends, which was not open')
        yield entry

    def _end_lost_turn(self, line: int) -> Iterator[Entry]:
        if self._turn is not None and self._turn_event is not None and self._turn_event.id not in self._ended:
            yield from self._interrupt(line)
            yield self._new(
                TurnEnd(self._turn.turn_id), line, f'turn "{self._turn.turn_id}" had no end', self._turn_event
            )
            self._turn = None

    def _interrupt(self, line: int) -> Iterator[Entry]:
        for call_id, (_, answered) in self._calls.items():
            if not answered:
                error = ToolFailure(INTERRUPTED, "interrupted")
                done = ToolComplete(call_id, False, error=error)
                if self._turn_event is None or self._turn_event.agent_id != self._agent:
                    done.parent_tool_call_id = self._agent or None
                yield self._new(done, line, f"{call_id} had no result", self._turn_event)
        self._calls = {}

    def _once(self, call_id: str, step: int, entry: Entry, what: str) -> Iterator[Entry]:
        call = self._calls.get(call_id)
        if call is None:
            entry = entry._replace(why=f"{call_id} {what}, which was not asked for there")
        elif call[step]:
            entry = entry._replace(why=f"{call_id} {what} a second time")
        else:
            call[step] = True
        yield entry

    def _new(self, data: Data, line: int, why: str, like: Event | None = None) -> Entry:
        agent_id = like.agent_id if like is not None else None
        return Entry(line, seal(data, parent_id=None, agent_id=agent_id), why, is_new=True)
