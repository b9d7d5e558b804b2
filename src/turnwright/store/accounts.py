"""Whether a log's turns and calls add up: pairs of turns in order, and one result for each call."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.conversation import AssistantMessage, TurnEnd, TurnStart, UserMessage
from turnwright.protocol.events.session import Abort, SessionResume
from turnwright.protocol.events.tools import ToolComplete, ToolStart
from turnwright.store.finding import Finding, broken, note


class Account:
    """One agent's turns, which count from "0" with each prompt, and the calls of its last reply.

    A turn that never ended is told of once the log is known to its end: whoever resumed the session may have
    ended it later.
    """

    def __init__(self, *, is_main: bool) -> None:
        self._is_main = is_main
        self._turn: _Turn | None = None
        self._last_id = -1
        self._may_restart = True
        self._aborted = 0
        self._unended: list[_Turn] = []
        self._calls: dict[str, _Call] = {}

    def see(self, line: int, event: Event) -> Iterator[Finding]:
        """Take one more event of this agent into account; what is wrong with it."""
        match event.data:
            case UserMessage() | SessionResume():
                self._may_restart = True
            case Abort() if self._turn is not None and self._aborted < self._turn.line:
                self._aborted = line
            case TurnStart(turn_id=turn_id):
                yield from self._start(turn_id, line)
            case TurnEnd(turn_id=turn_id):
                yield from self._end(turn_id, line)
            case AssistantMessage(tool_requests=requests):
                if self._turn is None and self._is_main:
                    yield broken(line, "turn", "a reply outside of every turn")
                yield from self._drop_calls()
                for request in requests:
                    yield from self._ask(request.tool_call_id, line)
            case ToolStart(tool_call_id=call_id):
                yield from self._start_call(call_id, line)
            case ToolComplete(tool_call_id=call_id):
                yield from self._answer(call_id, line)
            case _ if asked := user_requested_call(event):
                yield from self._ask(asked, line)
            case _:
                pass

    def close(self, questions: Iterable[str], *, is_written: bool) -> Iterator[Finding]:
        """What is wrong at the log's end; `questions` are the calls about which someone was asked.

        Of a log that `is_written` meanwhile, the last turn and its calls may be open.
        """
        waiting = self._calls.keys() & {*questions}
        for call_id in waiting:
            yield note(self._calls.pop(call_id).line, "call", f"{call_id} waits for the answer to a question")
        if is_written and self._turn is not None:
            yield note(self._turn.line, "turn", f'turn "{self._turn.id}" is open')
            self._turn, self._calls = None, {}
        yield from self._drop_calls()
        if self._turn is not None and waiting:
            yield note(self._turn.line, "turn", f'turn "{self._turn.id}" waits for the answer to a question')
        elif self._turn is not None:
            self._lose(self._turn, ": its process was killed, or it still runs")
        for turn in self._unended:
            yield broken(turn.line, "turn", f'turn "{turn.id}" has no end{turn.why}')

    def _start(self, turn_id: str, line: int) -> Iterator[Finding]:
        if self._turn is not None:
            self._lose(self._turn)
        yield from self._drop_calls()
        expected = {str(self._last_id + 1)}
        if self._may_restart or not self._is_main:
            expected.add("0")
        is_later = not self._is_main and turn_id.isdecimal() and int(turn_id) > self._last_id
        if turn_id not in expected and not is_later:  # an agent's earlier turns may be of a log that was cut
            yield broken(
                line, "turn", f'turn "{turn_id}" begins where {" or ".join(sorted(expected))} should'
            )
        self._turn = _Turn(turn_id, line)
        self._may_restart = False
        self._last_id = int(turn_id) if turn_id.isdecimal() else -1

    def _end(self, turn_id: str, line: int) -> Iterator[Finding]:
        if self._turn is not None and self._turn.id == turn_id:
            yield from self._drop_calls()
            self._turn = None
            return
        late = next((turn for turn in reversed(self._unended) if turn.id == turn_id), None)
        if late is None:
            yield broken(line, "turn", f'turn "{turn_id}" ends, which is not open')
        else:
            self._unended.remove(late)
            yield note(line, "turn", f'turn "{turn_id}" of line {late.line} ends here, after others began')

    def _lose(self, turn: "_Turn", why: str = "") -> None:
        if self._aborted > turn.line:
            why = f": the run was aborted in line {self._aborted}"
        self._unended.append(turn._replace(why=why))

    def _ask(self, call_id: str, line: int) -> Iterator[Finding]:
        if call_id in self._calls:
            yield broken(line, "call", f"{call_id} is asked for twice")
        self._calls[call_id] = _Call(line)

    def _start_call(self, call_id: str, line: int) -> Iterator[Finding]:
        call = self._calls.get(call_id)
        if call is None:
            yield broken(line, "call", f"{call_id} starts, which is not asked for here")
        elif call.started:
            yield broken(line, "call", f"{call_id} starts again")
        else:
            call.started = True

    def _answer(self, call_id: str, line: int) -> Iterator[Finding]:
        call = self._calls.get(call_id)
        if call is None:
            yield broken(line, "call", f"{call_id} has a result, which is not asked for here")
        elif call.answered:
            yield broken(line, "call", f"{call_id} has a second result")
        else:
            call.answered = True

    def _drop_calls(self) -> Iterator[Finding]:
        for call_id, call in self._calls.items():
            if not call.answered:
                yield broken(call.line, "call", f"{call_id} has no result")
        self._calls = {}


def user_requested_call(event: Event) -> str | None:
    """The id of the call that a user made without the model, if the event tells of one."""
    if event.type == "tool.user_requested":
        with suppress(InvalidParams):
            return wire.decode(event.encoded, _UserRequested).data.tool_call_id
    return None


class _Turn(NamedTuple):
    id: str
    line: int
    why: str = ""


class _UserCall(wire.Wire):
    tool_call_id: str


class _UserRequested(wire.Wire):
    data: _UserCall


class _Call:
    def __init__(self, line: int) -> None:
        self.line = line
        self.started = False
        self.answered = False
