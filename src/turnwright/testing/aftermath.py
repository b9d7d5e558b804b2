"""What a crash has left: did the log keep what clients were told, and is it sound once a runtime went on?"""

from collections.abc import Iterator, Sequence

from msgspec import Raw

from turnwright.protocol import wire
from turnwright.protocol.envelope import Event, parse
from turnwright.protocol.wire import Wire
from turnwright.store.audit import audit
from turnwright.store.finding import Finding

OPEN = ("has no end", "has no result", "waits for the answer")
"""What an audit says of the turn that was in hand, and of its calls."""


class Aftermath(Wire):
    """How many events were lost that a client had seen, how many requests to the model were invalid
    afterwards, and what else is wrong in words.
    """

    lost: int
    invalid: int
    faults: list[str]

    @property
    def is_fine(self) -> bool:
        """Whether nothing is wrong."""
        return self == Aftermath(0, 0, [])


def look(
    told: bytes, found: bytes, log: bytes, problems: Sequence[str], faults: Sequence[str] = ()
) -> Aftermath:
    """Compare what was sent to a client, a message a line, with the log as it was found and as it is now.

    `problems` are those of the requests since.
    """
    events = list(events_told(told))
    kept = set(found.split(b"\n"))
    lost = [event for event in events if event.encoded not in kept]
    wrong = [*faults, *problems]
    wrong += [f"lost: {event.type} {event.id}" for event in lost]
    wrong += [f"found: line {f.line}: {f.text}" for f in _damage(found)]
    whole = found[: found.rfind(b"\n") + 1]
    if not log.startswith(whole):
        wrong.append("what was whole in the log was changed")
    wrong += [f"now: line {f.line}: {f.text}" for f in _broken(log)]
    return Aftermath(len(lost), len(problems), wrong)


def events_told(told: bytes) -> Iterator[Event]:
    """The persisted events among the messages to a client; a last one that was cut was not sent."""
    for line in told.split(b"\n")[:-1]:
        message = wire.decode(line, _Notice)
        if message.method == "session.event":
            event = parse(bytes(wire.decode(bytes(message.params), _EventParams).event))
            if not event.ephemeral:
                yield event


def _broken(log: bytes) -> list[Finding]:
    return [finding for finding in audit(log.splitlines(keepends=True)).findings if finding.broken]


def _damage(found: bytes) -> list[Finding]:
    """What a kill doesn't explain."""
    if not found:
        return []
    whole = found[: found.rfind(b"\n") + 1]
    return [finding for finding in _broken(whole) if whole and not any(s in finding.text for s in OPEN)]


class _Notice(Wire):
    method: str = ""
    params: Raw = Raw(b"null")


class _EventParams(Wire):
    event: Raw
