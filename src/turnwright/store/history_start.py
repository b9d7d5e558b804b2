"""Where in a log the history begins that the model still sees: what is before the last summary isn't read."""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple, Self

from turnwright.protocol.events.compaction import CompactionComplete, ContextCleared
from turnwright.protocol.messages import Message
from turnwright.store.base import EventLog
from turnwright.store.heads import head, head_of
from turnwright.store.history import History, is_seed, summary_message
from turnwright.store.kinds import MATTER_TO_NO_FOLD, MATTER_TO_THE_STATE_ALONE
from turnwright.store.lines import SAID, said
from turnwright.store.salvage import event_of

UNSAID = frozenset(map(head, MATTER_TO_NO_FOLD | MATTER_TO_THE_STATE_ALONE))
"""How the lines begin of which a log has many, and the history nothing."""


class _Span(NamedTuple):
    """A message of the user or the model with the results of its calls; how many, and from which byte on."""

    messages: int
    offset: int


class HistoryStart:
    """Counts messages as they would stand in the history, without keeping them."""

    def __init__(self) -> None:
        self.system: bytes | None = None
        self.adds_up = True
        """Whether all that summaries stand for was there; else only decoding all lines tells what was."""
        self._spans: deque[_Span] = deque()
        self._summaries: list[Message] = []
        self._removed = 0
        self._seed: str | None = None
        self._known_system = ""
        self._unread: _Span | None = None
        self._begins_at = 0

    @classmethod
    def at(cls, offset: int, *, system: str, summary: Message | None, messages: int) -> Self:
        """Count from a byte on, where there were so many `messages` besides a summary that came first."""
        start = cls()
        start._known_system, start._begins_at = system, offset
        if summary is not None:
            start._summaries = [summary]
        if messages:
            start._unread = _Span(messages, offset)
            start._spans.append(start._unread)
        return start

    @property
    def offset(self) -> int:
        """The first byte of the log that `read` needs."""
        return self._spans[0].offset if self._spans else self._begins_at

    @property
    def is_there(self) -> bool:
        """Whether all of the history lies behind the byte from which on was counted."""
        return not self._spans or self._spans[0] is not self._unread

    def add(self, messages: int, offset: int, message_id: str | None = None) -> None:
        """Note a line that begins a span. The first after `clear` may stand for the seed too."""
        if messages and self._seed is not None:
            if message_id != self._seed:
                self._spans[0] = self._spans[0]._replace(messages=1)
            self._seed = None
        self._spans.append(_Span(messages, offset))

    def clear(self, data: ContextCleared, offset: int) -> None:
        """Forget all spans: the history begins with this line."""
        self._spans.clear()
        self._spans.append(_Span(0, offset))
        self._summaries, self._removed, self.adds_up = [], 0, True
        self._seed = data.message_id if is_seed(data) else None

    def compact(self, data: CompactionComplete, *, is_answered: bool) -> None:
        """Forget the spans that a summary stands for; of the one that it cuts, count what goes.

        The results of the last reply are not in place before each of its calls is answered.
        """
        removed = data.messages_removed or 0
        unplaced = 0 if is_answered or not self._spans else max(self._spans[-1].messages - 1, 0)
        there = len(self._summaries) + sum(span.messages for span in self._spans) - self._removed - unplaced
        self.adds_up = self.adds_up and 0 <= removed <= there
        gone = min(removed, len(self._summaries))
        self._removed += removed - gone
        self._summaries[:gone] = []
        self._summaries.insert(0, summary_message(data))
        while len(self._spans) > 1 and self._spans[0].messages <= self._removed and self._seed is None:
            self._removed -= self._spans.popleft().messages

    def read(self, log: EventLog) -> History | None:
        """The history that the whole log would give; None when some of it is damaged."""
        history = History()
        history.system = self._known_system
        for line in self._lines(log):
            beginning = head_of(line)
            if beginning in UNSAID:
                continue
            found = said(line, SAID.get(beginning)) or event_of(line)
            if found is None:
                return None
            is_said = found.agent_id is None and not found.ephemeral
            if is_said and not isinstance(found.data, CompactionComplete):
                history.take(found.data)
        if self._summaries or self._removed:
            history.messages[: self._removed] = self._summaries
            history.size = history.length(history.messages)
        return history

    def _lines(self, log: EventLog) -> Iterator[bytes]:
        if self.system is not None:
            yield self.system
        if self._spans:
            yield from log.read(self._spans[0].offset)
