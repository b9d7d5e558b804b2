"""What must hold after a run, whatever went wrong."""

from collections import Counter
from collections.abc import Iterable, Iterator

from tests.simulation.connection import Connection
from tests.simulation.world import World
from turnwright.protocol.envelope import Event, parse
from turnwright.protocol.events.conversation import TurnEnd, TurnStart, UserMessage
from turnwright.protocol.events.session import SessionError
from turnwright.store.audit import audit
from turnwright.store.history import History
from turnwright.store.load import load
from turnwright.store.memory import MemoryLog
from turnwright.store.state import State

PUT_IN = "a bug in a"
"""What the exceptions say that the simulation itself raises."""


class Outcome:
    """The log that a run left, beside what its clients and its model saw."""

    def __init__(self, world: World) -> None:
        self.world = world
        data = world.log_file.read_bytes()
        self.lines = data.splitlines(keepends=True)
        self.events: list[Event] = [parse(line[:-1]) for line in self.lines]
        apps = [*world.apps, world.writer]
        self.connections = [connection for app in apps for connection in app.connections]
        self.accepted = [accepted for app in apps for accepted in app.accepted]

    def problems(self) -> Iterator[str]:
        """All that is wrong."""
        yield from self.world.errors
        yield from self.world.model.problems
        yield from (f"line {f.line}: {f.text}" for f in audit(self.lines).findings if f.broken)
        yield from self._turns()
        yield from self._messages()
        yield from self._folds()
        yield from self._idle()
        for connection in self.connections:
            yield from self._seen(connection)
            if "raise" not in self.world.faults.kinds:
                yield from (f"a bug: {e}" for e in connection.events if _tells_of_a_bug(e))

    def _turns(self) -> Iterator[str]:
        """Each request is a turn; a life of the session may end between a turn's start and its request."""
        starts = sum(isinstance(event.data, TurnStart) for event in self.events)
        unsent = sum(isinstance(e.data, TurnEnd) and not e.data.request_sent for e in self.events)
        counted = sum(line.count(b"assistant.turn_start") for line in self.lines)
        crashes = sum(process.crashed for process in self.world.processes)
        unknown = crashes + _ended_without_knowing(self.events)
        if counted != starts:
            yield f"grep counts {counted} turns, but there are {starts}"
        if not 0 <= starts - unsent - self.world.model.seen <= unknown:
            yield f"{self.world.model.seen} requests, but {starts} turns, {unsent} of them without a request"

    def _messages(self) -> Iterator[str]:
        """An accepted message is logged once, unless it was killed with its process or taken back."""
        said = Counter(event.data.message_id for event in self.events if isinstance(event.data, UserMessage))
        lost = 0
        for message_id, process in self.accepted:
            lost += not (said[message_id] or process.crashed or self.world.cleared)
            if said[message_id] > 1:
                yield f"message {message_id} is {said[message_id]} times in the log"
        if lost > (told := self._store_errors()):
            yield f"{lost} messages are not in the log, and {told} errors of the store were told"

    def _store_errors(self) -> int:
        """How often a client was told that the log takes nothing."""
        events = (event for connection in self.connections for event in connection.events)
        told = sum(isinstance(e.data, SessionError) and e.data.error_type == "store" for e in events)
        return told + sum("can't" in text for app in self.world.apps for text in app.refusals)

    def _folds(self) -> Iterator[str]:
        """What a load takes from the log is what each event gives; nothing is open."""
        log, state, history = MemoryLog(), State(), History()
        for event in self.events:
            log.append(event.encoded)
            state.apply(event)
            history.apply(event)
        loaded = load(log)
        if vars(loaded.state) | {"usage": None} != vars(state) | {"usage": None}:
            yield "the state that is loaded is not the log's"
        if (loaded.history.system, [*loaded.history.messages]) != (history.system, [*history.messages]):
            yield "the history that is loaded is not the log's"
        for name in ("open_turns", "open_calls", "questions"):
            if getattr(state, name):
                yield f"{name}: {getattr(state, name)}"

    def _idle(self) -> Iterator[str]:
        """Who was there at the end heard last that all is idle."""
        last = self.world.apps[0].connections[-1]
        told = [e.type for e in last.events if e.type == "session.idle" or not e.type.startswith("session.")]
        if not told or told[-1] != "session.idle":
            yield f"the last that the client heard was {told[-1:]}"

        for connection in self.connections:
            yield from _runs_without_idle(connection.events)

    def _seen(self, connection: Connection) -> Iterator[str]:
        """What a client saw is in the log, and what is in the log while it listens it saw."""
        numbers = {line[:-1]: number for number, line in enumerate(self.lines)}
        seen = [numbers.get(encoded) for encoded in connection.persisted]
        if None in seen:
            lost = connection.persisted[seen.index(None)]
            yield f"process {connection.process.number}: a client saw what the log has lost: {lost[:200]!r}"
            return
        found = [number for number in seen if number is not None]
        if found != sorted(set(found)):
            yield f"process {connection.process.number}: a client saw events twice, or out of order"
        elif found and found != list(range(found[0], found[-1] + 1)) and not self.world.writer.connections:
            missing = sorted({*range(found[0], found[-1] + 1)} - {*found})
            yield f"process {connection.process.number}: a client did not see lines {missing} of the log"


def _ended_without_knowing(events: Iterable[Event]) -> int:
    """How many turns a resume ended, as the life of the session before it could not even log its shutdown."""
    unknown = ended = 0
    before = ""
    for event in events:
        if event.type == "assistant.turn_end":
            ended += 1
            continue
        if event.type == "session.resume" and before != "session.shutdown":
            unknown += ended
        ended, before = 0, event.type
    return unknown


def _runs_without_idle(events: Iterable[Event]) -> Iterator[str]:
    """A message that did not wait comes after an idle, if the session was not taken up anew."""
    runs = False
    for event in events:
        data = event.data
        if event.type in ("session.idle", "session.shutdown", "session.resume"):
            runs = False
        elif isinstance(data, UserMessage):
            if runs and data.delivery == "idle" and data.source is None:
                yield f"no idle came before the message {data.message_id}"
            runs = True


def _tells_of_a_bug(event: Event) -> bool:
    return isinstance(event.data, SessionError) and event.data.error_type == "internal"
