"""The folds of a log as far as it was read, with as little decoding as they allow."""

from collections.abc import Callable, Sequence

import msgspec

from turnwright.protocol.envelope import Event
from turnwright.protocol.events.compaction import CompactionComplete, ContextCleared
from turnwright.protocol.events.conversation import AssistantMessage, SystemMessage, ToolRequest, UserMessage
from turnwright.protocol.wire import Wire
from turnwright.store.heads import DATA, head, head_of
from turnwright.store.history_start import HistoryStart
from turnwright.store.kinds import ANSWERED, ASKED, MATTER_TO_NO_FOLD
from turnwright.store.salvage import event_of
from turnwright.store.state import State
from turnwright.store.usage import Record

_PARENT = b'","parentId":"'
_ID = b'"requestId":"'
_TURN_START, _TURN_END = b'"turnId":"', b'{"type":"assistant.turn_end","data":{"turnId":"'


class _Call(Wire):
    tool_call_id: str


class _Reply(Wire):
    content: str
    tool_requests: list[_Call]


class _ReplyLine(Wire):
    data: _Reply


class _Usage(Wire):
    usage: Record


class _UsageLine(Wire):
    data: _Usage


_reply_decoder = msgspec.json.Decoder(_ReplyLine)
_usage_decoder = msgspec.json.Decoder(_UsageLine)


class Folding:
    """Gives the state, and the start of the history, that every event applied in order would.

    A line is told by its first bytes and by its end, which names the event before it: so two that were fused
    are not taken for one. What doesn't look so is decoded as a whole. Some things are put off, for they
    mostly turn out not to matter: a turn's start, which its end undoes but for the count, a question, which
    its answer undoes, and a reply with its results, until the conversation goes on.
    """

    def __init__(self) -> None:
        self.state = State()
        self.history = HistoryStart()
        self.is_whole = True
        self._offset = 0
        self._turn: bytes | None = None
        self._turn_end = b""
        self._calls: list[bytes] = []
        self._edits: list[bytes] = []
        self._asked: dict[bytes, bytes] = {}
        self._end = b""
        self._last: Event | bytes | None = None
        self._by_head: dict[bytes, Callable[[bytes], bool]] = {
            head("tool.execution_complete"): self._result,
            head("assistant.turn_start"): self._start_turn,
            head("assistant.turn_end"): self._end_turn,
            head("session.usage_record"): self._usage,
            head("assistant.message"): self._reply,
            **{head(name): self._ask for name in ASKED},
            **{head(name): self._answer for name in ANSWERED},
            head("system.message"): self._system,
            **{head(name): self._count for name in MATTER_TO_NO_FOLD},
        }

    def take(self, line: bytes) -> bool:
        """Take one more line; False when it is damaged. Damage inside of what isn't decoded goes unseen."""
        taken = False
        if line.endswith(self._end) and line[-135:-127] == b'},"id":"':
            take = self._by_head.get(head_of(line))
            if take is not None and take(line):
                taken = True
                self._end = _PARENT + line[-127:-91] + b'"}'
                self._last = line
        if not taken and (event := event_of(line)) is not None:
            taken = True
            self.add(event)
        self._offset += len(line) + 1
        return taken

    def add(self, event: Event) -> None:
        """Take one more event that was decoded."""
        self._apply_turn()
        if event.type in ANSWERED:
            self._apply_questions()
        if event.agent_id is None:
            self._main(event)
        self.state.apply(event)
        if not event.ephemeral:
            self._end, self._last = _PARENT + event.id.encode() + b'"}', event

    def close(self) -> None:
        """Take what was put off into account; `is_whole` tells whether all of it could be read."""
        self._apply_turn()
        self._apply_questions()
        for line in self._calls:
            self._apply(line)
        last = event_of(self._last) if isinstance(self._last, bytes) else self._last
        if last is not None:
            self.state.last_id, self.state.modified = last.id, last.timestamp
        elif self._last is not None:
            self.is_whole = False

    def _main(self, event: Event) -> None:
        match event.data:
            case UserMessage(message_id=message_id):
                self._go_on()
                self.history.add(1, self._offset, message_id)
            case AssistantMessage(content=content, tool_requests=requests):
                self._go_on()
                self.history.add(length_of_reply(content, requests), self._offset)
            case SystemMessage():
                self.history.system = event.encoded
            case CompactionComplete(success=True) as data:
                self.history.compact(data)
            case ContextCleared() as data:
                self.history.clear(data, self._offset)
            case _:
                pass

    def _count(self, line: bytes) -> bool:
        self.state.events += 1
        return True

    def _system(self, line: bytes) -> bool:
        self.history.system = line
        return self._count(line)

    def _result(self, line: bytes) -> bool:
        self._calls.append(line)
        if b'"fileEdits"' in line:
            self._edits.append(line)
        return True

    def _start_turn(self, line: bytes) -> bool:
        self._apply_turn()
        self._turn = line
        start = line.find(_TURN_START) + len(_TURN_START)
        self._turn_end = _TURN_END + line[start : line.find(b'"', start) + 1]
        return True

    def _end_turn(self, line: bytes) -> bool:
        if self._turn is None or self.state.open_turns or not line.startswith(self._turn_end):
            return False
        self._turn = None
        self.state.turns += 1
        self.state.events += 2
        return True

    def _ask(self, line: bytes) -> bool:
        id = _question(line)
        if id is None:
            return False
        if id in self._asked:
            self._apply_questions()
        self._asked[id] = line
        return True

    def _answer(self, line: bytes) -> bool:
        id = _question(line)
        if id is None or self.state.questions or self._asked.pop(id, None) is None:
            return False
        self.state.events += 2
        return True

    def _apply_questions(self) -> None:
        for line in self._asked.values():
            self._apply(line)
        self._asked.clear()

    def _usage(self, line: bytes) -> bool:
        try:
            found = _usage_decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return False
        self.state.usage.add(found.data.usage)
        self.state.events += 1
        return True

    def _reply(self, line: bytes) -> bool:
        try:
            reply = _reply_decoder.decode(line).data
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return False
        self._go_on()
        self._calls.append(line)
        self.history.add(length_of_reply(reply.content, reply.tool_requests), self._offset)
        return True

    def _go_on(self) -> None:
        """The conversation goes on: of the last reply and its results only the edits of files still count."""
        self.state.events += len(self._calls) - len(self._edits)
        self._calls.clear()
        if self._edits:
            for line in self._edits:
                self._apply(line)
            self._edits.clear()

    def _apply_turn(self) -> None:
        if self._turn is not None:
            self._apply(self._turn)
            self._turn = None

    def _apply(self, line: bytes) -> None:
        event = event_of(line)
        if event is None:
            self.is_whole = False
        else:
            self.state.apply(event)


def _question(line: bytes) -> bytes | None:
    """The id of the question that a line is about, if it is the first field and a plain one."""
    start = line.find(DATA) + len(DATA)
    if not line.startswith(_ID, start):
        return None
    id = line[start + len(_ID) : line.find(b'"', start + len(_ID))]
    return None if b"\\" in id else id


def length_of_reply(content: str, requests: Sequence[_Call | ToolRequest]) -> int:
    """How many messages a reply and the results of its calls are."""
    if len(requests) < 2:
        return 2 * len(requests) or bool(content)
    return 1 + len({request.tool_call_id for request in requests})
