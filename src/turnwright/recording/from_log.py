"""A recording out of a session's log, which tells all that the model was told and has replied."""

from collections.abc import Iterable

from turnwright.engine.compaction import AGENT
from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.compaction import CompactionComplete, CompactionStart
from turnwright.protocol.events.conversation import AssistantMessage, TurnStart, UserMessage
from turnwright.protocol.events.session import Abort, SessionError, UsageRecord
from turnwright.protocol.messages import Reply, Usage
from turnwright.protocol.wire import Wire
from turnwright.recording.dialogue import SUMMARY, Dialogue, answer_of
from turnwright.recording.form import FORMAT, Exchange, Failure, Recording
from turnwright.recording.places import Places
from turnwright.store.history import History, tool_call
from turnwright.store.state import State

UNKNOWN = "The call failed, and was tried again. The log doesn't say why."


class _Counted(Wire):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int | None = 0


def recording_of(events: Iterable[Event], places: Places) -> Recording:
    """Make a recording of a log, oldest event first."""
    return _Reading(places).of(events)


class _Reading:
    def __init__(self, places: Places) -> None:
        self._places = places
        self._recording = Recording(FORMAT, model="")
        self._history = History()
        self._state = State()
        self._dialogue = Dialogue("1", places)
        self._current: Exchange | None = None
        self._summary: Exchange | None = None
        self._usage = _Counted()

    def of(self, events: Iterable[Event]) -> Recording:
        for event in events:
            if event.agent_id == AGENT:
                self._of_summary(event)
            elif event.agent_id is None:
                self._main(event)
            self._history.apply(event)
            self._state.apply(event)
        self._recording.model = self._state.model or ""
        return self._recording

    def _main(self, event: Event) -> None:
        match event.data:
            case TurnStart():
                if self._current is not None and self._current.reply is None:
                    self._current.failure = Failure(UNKNOWN, retried=True)
                history = self._history
                self._current = self._dialogue.ask(history.system, history.messages, self._state.mode)
                self._recording.exchanges.append(self._current)
            case UsageRecord(usage=usage):
                self._count(usage)
            case AssistantMessage() as data if self._current is not None:
                calls = tuple(tool_call(request) for request in data.tool_requests)
                reply = Reply(data.content, calls, data.reasoning_text or "", self._used())
                self._current.reply = answer_of(reply, self._places)
                self._current.reply.finish_reason = "tool_calls" if calls else "stop"
            case SessionError(message=message, status_code=status) if self._current is not None:
                if self._current.reply is None:
                    self._current.failure = Failure(self._places.hide(message), status)
            case CompactionStart(token_limit=window):
                self._recording.window = window
            case CompactionComplete(summary_content=summary) if self._summary is not None and summary:
                self._summary.reply = answer_of(Reply(summary, usage=self._used()), self._places)
            case Abort() | UserMessage():
                self._current = None
            case _:
                pass

    def _of_summary(self, event: Event) -> None:
        match event.data:
            case TurnStart():
                self._summary = Exchange(f"1/{SUMMARY}")
                self._recording.exchanges.append(self._summary)
            case UsageRecord(usage=usage):
                self._count(usage)
            case _:
                pass

    def _count(self, usage: object) -> None:
        try:
            self._usage = wire.convert(usage, _Counted)
        except InvalidParams:
            self._usage = _Counted()

    def _used(self) -> Usage:
        used = self._usage
        return Usage(
            used.input_tokens,
            used.output_tokens,
            used.cache_read_tokens,
            used.cache_write_tokens,
            used.reasoning_tokens or 0,
        )
