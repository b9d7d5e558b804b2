"""Checking a log: whether a reader may rely on it, and whether every turn and call is accounted for."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from turnwright.errors import InvalidParams
from turnwright.protocol.envelope import Event, Unknown, parse
from turnwright.protocol.events import EVENTS
from turnwright.protocol.events.conversation import AssistantMessage, TurnStart
from turnwright.protocol.events.questions import (
    ExternalToolCompleted,
    ExternalToolRequested,
    PermissionCompleted,
    PermissionRequested,
)
from turnwright.protocol.events.session import SessionStart
from turnwright.protocol.wire import Wire
from turnwright.store.accounts import Account
from turnwright.store.checksums import Altered
from turnwright.store.finding import Finding, broken, note

VERSION = 1
MAY_BE_LOGGED = frozenset(["session.info", "session.title_changed", "assistant.reasoning"])
"""Types that are ephemeral, or not, from case to case."""


class Report(Wire):
    """What an audit found, by line, in a log of so many lines, turns and calls."""

    lines: int
    turns: int
    calls: int
    findings: list[Finding]

    @property
    def is_sound(self) -> bool:
        """Whether nothing is broken."""
        return not any(finding.broken for finding in self.findings)


def audit(lines: Iterable[bytes], altered: Altered | None = None, *, is_written: bool = False) -> Report:
    """Check a log, given as a file gives it: lines with their newlines; `altered` is what its sums say.

    In one that `is_written` meanwhile the last turn may be open, and the last line incomplete.
    """
    log = _Log(altered)
    findings = [
        finding for line in lines if line.endswith(b"\n") or not is_written for finding in log.read(line)
    ]
    findings += log.close(is_written=is_written)
    findings.sort(key=lambda finding: finding.line)
    return Report(log.line, log.turns, log.calls, findings)


class _Log:
    """A log as far as it was read."""

    def __init__(self, altered: Altered | None) -> None:
        self.line = 0
        self._altered = altered
        self._offset = 0
        self.turns = 0
        self.calls = 0
        self._ids: set[str] = set()
        self._parent: str | None = None
        self._is_parent_known = True
        self._latest: datetime | None = None
        self._accounts: dict[str, Account] = {}
        self._questions: dict[str, str] = {}

    def read(self, raw: bytes) -> Iterator[Finding]:
        """Read one more line; what is wrong with it."""
        self.line += 1
        self._offset += len(raw)
        if self._altered is not None and self._offset > self._altered.start:
            yield broken(self.line, "sum", f"here or below, before byte {self._altered.end}: not as written")
            self._altered = None
        if not raw.endswith(b"\n"):
            yield broken(self.line, "line", "the last line has no end: it may be cut short")
        try:
            raw.decode()
            event = parse(raw.rstrip(b"\n"))
        except UnicodeDecodeError as error:
            yield broken(self.line, "line", f"not UTF-8: byte {error.start} is {raw[error.start]:#04x}")
            self._is_parent_known = False
        except InvalidParams as error:
            yield broken(self.line, "line", f"not an event: {error}")
            self._is_parent_known = False
        else:
            yield from self._envelope(event)
            yield from self._content(event)

    def close(self, *, is_written: bool) -> Iterator[Finding]:
        """What is wrong at the end."""
        if not self.line:
            yield broken(1, "start", "the log is empty")
        for account in self._accounts.values():
            yield from account.close(self._questions.values(), is_written=is_written)

    def _envelope(self, event: Event) -> Iterator[Finding]:
        if event.id in self._ids or not event.id:
            yield broken(self.line, "id", f"the id {event.id!r} is not its own")
        if self._is_parent_known and event.parent_id != self._parent:
            yield broken(
                self.line, "chain", f"its parent is {event.parent_id}, but {self._parent} stands before it"
            )
        self._ids.add(event.id)
        self._parent, self._is_parent_known = event.id, True
        if is_fleeting(event):
            yield broken(self.line, "ephemeral", f"{event.type} is ephemeral: it belongs into no log")
        yield from self._time(event)

    def _time(self, event: Event) -> Iterator[Finding]:
        try:
            time = datetime.fromisoformat(event.timestamp)
        except ValueError:
            time = None
        if time is None or time.tzinfo is None:
            yield broken(self.line, "time", f"{event.timestamp!r} is no ISO 8601 time with a time zone")
            return
        if self._latest is not None and time < self._latest:
            yield note(
                self.line, "time", f"{event.timestamp} is before what stands above: a clock was set back"
            )
        self._latest = time

    def _content(self, event: Event) -> Iterator[Finding]:
        data = event.data
        if is_misshapen(event):
            yield broken(self.line, "shape", f"{event.type} has not the fields of its type")
        if (self.line == 1) != (event.type == "session.start"):
            yield broken(self.line, "start", "session.start has to be the first line, and no other")
        match data:
            case SessionStart(version=version) if version != VERSION:
                yield broken(self.line, "start", f"the log's version is {version}, and not {VERSION}")
            case TurnStart():
                self.turns += 1
            case AssistantMessage(tool_requests=requests):
                self.calls += len(requests)
            case PermissionRequested() | ExternalToolRequested():
                self._questions[data.request_id] = call_of(data)
            case PermissionCompleted() | ExternalToolCompleted():
                if self._questions.pop(data.request_id, None) is None:
                    yield broken(self.line, "question", f"{data.request_id} is answered, but not open")
            case _:
                pass
        agent = agent_of(event)
        if agent not in self._accounts:
            self._accounts[agent] = Account(is_main=not agent)
        yield from self._accounts[agent].see(self.line, event)


def is_fleeting(event: Event) -> bool:
    """Whether an event is one that belongs into no log."""
    kind = EVENTS.get(event.type)
    return event.ephemeral or (kind is not None and kind.ephemeral and event.type not in MAY_BE_LOGGED)


def is_misshapen(event: Event) -> bool:
    """Whether an event has not the fields of its type, which is one that we know."""
    return isinstance(event.data, Unknown) and event.type in EVENTS


def agent_of(event: Event) -> str:
    """Whose turns and calls an event counts among; empty for the session's own agent."""
    return event.agent_id or getattr(event.data, "parent_tool_call_id", None) or ""


def call_of(question: PermissionRequested | ExternalToolRequested) -> str:
    """The id of the call that a question is about; empty when it names none."""
    if isinstance(question, ExternalToolRequested):
        return question.tool_call_id
    asked: object = question.permission_request
    return str(asked.get("toolCallId", "")) if isinstance(asked, dict) else ""  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
