"""The folds of a log as far as it was read, with as little decoding as they allow."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import Any

from turnwright.protocol.envelope import Event
from turnwright.protocol.events.compaction import CompactionComplete, ContextCleared
from turnwright.protocol.events.conversation import AssistantMessage, SystemMessage, ToolRequest, UserMessage
from turnwright.protocol.events.tools import ToolComplete
from turnwright.store.heads import ID_AT, ID_TO, head_of
from turnwright.store.history_start import HistoryStart
from turnwright.store.kinds import ANSWERED, ASKED
from turnwright.store.lines import SAID, Call, said
from turnwright.store.piece import (
    ANSWER,
    ASK,
    EDIT,
    MODEL_CALL,
    ODD,
    REPLY,
    RESULT,
    START,
    STOP,
    SYSTEM,
    of_kind,
    sort,
)
from turnwright.store.salvage import event_of
from turnwright.store.state import OF_MAIN, State

_OF_CALLS = (REPLY, RESULT, EDIT)
_OF_NO_TURN = bytes({*range(256)} - {START, STOP})


class Folding:
    """Gives the state, and the start of the history, that every event applied in order would.

    Some things are put off, for they mostly turn out not to matter: a question, which its answer undoes, and
    a reply with its results, until the conversation goes on. It begins with the log's first line, or behind
    the one at which `state` and `history` are known.
    """

    def __init__(self, state: State | None = None, history: HistoryStart | None = None) -> None:
        self.state = state or State()
        self.history = history or HistoryStart()
        self.is_whole = True
        self._offset = self.history.offset
        self._calls: list[bytes] = []
        self._starts: dict[bytes, bytes] = {}
        self._asked: dict[bytes, bytes] = {}
        self._last_id = (self.state.last_id or "").encode()
        self._last: Event | bytes | None = None

    @property
    def offset(self) -> int:
        """The byte with which the next line begins."""
        return self._offset

    def take(self, lines: Sequence[bytes]) -> Iterator[bytes]:
        """Take some more lines, with their newlines, and yield each that is damaged before going on.

        Damage inside of what isn't decoded goes unseen.
        """
        kinds, read = sort(lines, self._last_id)
        offsets = list(accumulate(map(len, lines), initial=self._offset))
        done = 0
        while (odd := kinds.find(ODD, done)) >= 0:
            self._plain(lines[done:odd], kinds[done:odd], read, offsets[done:odd])
            self._offset, done = offsets[odd], odd + 1
            event = event_of(lines[odd].removesuffix(b"\n"))
            if event is None:
                yield lines[odd]
            else:
                self.add(event)
        self._plain(lines[done:], kinds[done:], read, offsets[done:-1])
        self._offset = offsets[-1]

    def add(self, event: Event) -> None:
        """Take one more event that was decoded; one that logs aren't for says nothing in a log."""
        if event.ephemeral:
            return
        if event.type in ASKED or event.type in ANSWERED:
            self._apply_questions()
        if event.agent_id is None:
            self._main(event)
        self.state.apply(event)
        self._last_id, self._last = event.id.encode(), event

    def close(self) -> None:
        """Take what was put off into account; `is_whole` tells whether all of it could be read."""
        self._apply_questions()
        for line in self._starts.values():
            self._event(line)
        self._take_calls()
        last = self._event(self._last) if isinstance(self._last, bytes) else self._last
        if last is not None:
            self.state.last_id, self.state.modified = last.id, last.timestamp

    def _main(self, event: Event) -> None:
        match event.data:
            case UserMessage(message_id=message_id):
                self._calls.clear()
                self.history.add(1, self._offset, message_id)
            case AssistantMessage(content=content, tool_requests=requests):
                self._calls.clear()
                self.history.add(length_of_reply(content, requests), self._offset)
            case ToolComplete():
                self._calls.append(
                    event.encoded
                )  # its reply may have been put off, and asks for it only then
            case SystemMessage():
                self.history.system = event.encoded
            case CompactionComplete(success=True) as data:
                self._take_calls()
                self.history.compact(data, is_answered=not self.state.open_calls)
            case ContextCleared() as data:
                self.history.clear(data, self._offset)
            case _:
                pass

    def _plain(
        self,
        lines: Sequence[bytes],
        kinds: bytearray,
        read: Mapping[int, Iterator[Any]],
        offsets: Sequence[int],
    ) -> None:
        """Take lines none of which is odd; what was read of them comes next of each kind."""
        if not lines:
            return
        self.state.events += len(lines)
        for line in islice(read[MODEL_CALL], kinds.count(MODEL_CALL)):
            self.state.usage.add(line.data.usage)
        for offset, line in zip(of_kind(REPLY, kinds, offsets), read[REPLY], strict=False):
            self.history.add(length_of_reply(line.data.content, line.data.tool_requests), offset)
        for line in islice(read[EDIT], kinds.count(EDIT)):
            self.state.usage.edited(line.data)
        self._turns(lines, kinds, read)
        self._questions(lines, kinds, read)
        self._put_off(lines, kinds)
        system = kinds.rfind(SYSTEM)
        if system >= 0:
            self.history.system = lines[system].removesuffix(b"\n")
        self._last_id, self._last = lines[-1][ID_AT:ID_TO], lines[-1]

    def _turns(self, lines: Sequence[bytes], kinds: bytearray, read: Mapping[int, Iterator[Any]]) -> None:
        starts = list(islice(read[START], kinds.count(START)))
        stops = list(islice(read[STOP], kinds.count(STOP)))
        self.state.turns += len(starts)
        open_turns = self.state.open_turns
        order = bytes(kinds.translate(None, _OF_NO_TURN))
        begun = [*(id.encode() for _, id in open_turns), *starts]
        ahead = len(open_turns)
        turn_by_turn = bytes((START, STOP)) * (1 + len(order))
        if (
            order == turn_by_turn[ahead : ahead + len(order)]
            and stops == begun[: len(stops)]
            and open_turns.keys() <= {(None, id.decode()) for id in begun[:1]}
        ):
            if stops:
                open_turns.clear()
                self._starts.clear()
            if starts and len(begun) > len(stops):
                open_turns[None, begun[-1].decode()] = None
                self._starts[begun[-1]] = lines[kinds.rfind(START)]
            return
        started, stopped = zip(starts, of_kind(START, kinds, lines), strict=True), iter(stops)
        for kind in order:
            if kind == START:
                id, line = next(started)
                open_turns[None, id.decode()] = None
                self._starts[id] = line
            else:
                id = next(stopped)
                open_turns.pop((None, id.decode()), None)
                self._starts.pop(id, None)

    def _questions(self, lines: Sequence[bytes], kinds: bytearray, read: Mapping[int, Iterator[Any]]) -> None:
        if ASK not in kinds and ANSWER not in kinds:
            return
        for kind, line in zip(kinds, lines, strict=True):
            if kind == ASK:
                self._asked[next(read[ASK])] = line
            elif kind == ANSWER:
                id = next(read[ANSWER])
                self._asked.pop(id, None)
                self.state.questions.pop(id.decode(), None)

    def _put_off(self, lines: Sequence[bytes], kinds: bytearray) -> None:
        """Of the last reply and its results it shows later whether they matter: others' edits were all."""
        reply = kinds.rfind(REPLY)
        if reply >= 0:
            self._calls.clear()
        for place in range(max(reply, 0), len(lines)):
            if kinds[place] in _OF_CALLS:
                self._calls.append(lines[place])

    def _take_calls(self) -> None:
        for line in self._calls:
            found = said(line, SAID.get(head_of(line))) or self._event(line)
            if found is not None and type(found.data) in OF_MAIN:
                OF_MAIN[type(found.data)](self.state, found.data)
        self._calls.clear()

    def _apply_questions(self) -> None:
        for line in self._asked.values():
            event = self._event(line)
            if event is not None:
                self.state.take(event.data, None)
        self._asked.clear()

    def _event(self, line: bytes) -> Event | None:
        event = event_of(line.removesuffix(b"\n"))
        if event is None:
            self.is_whole = False
        return event


def length_of_reply(content: str, requests: Sequence[Call | ToolRequest]) -> int:
    """How many messages a reply and the results of its calls are."""
    if len(requests) < 2:
        return 2 * len(requests) or bool(content)
    return 1 + len({request.tool_call_id for request in requests})
