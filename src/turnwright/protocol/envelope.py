"""An event as it is logged and sent: the payload in its envelope, encoded once."""

from typing import Any

import msgspec

from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.events import EVENTS, Data
from turnwright.protocol.explanation import explain

TURN_START = "assistant.turn_start"


class Unknown(Data):
    """The payload of a type that Turnwright doesn't know, kept as it came."""


class _Envelope(msgspec.Struct, rename="camel", omit_defaults=True):
    type: str
    data: Any
    id: str
    timestamp: str
    parent_id: str | None
    ephemeral: bool = False
    agent_id: str | None = None


class Logged(msgspec.Struct, rename="camel", gc=False):
    """An event as a log has it: the envelope is decoded, the payload not yet."""

    type: str
    data: msgspec.Raw
    id: str
    timestamp: str = ""
    parent_id: str | None = None
    ephemeral: bool = False
    agent_id: str | None = None


_decoder = msgspec.json.Decoder(Logged)


class Event(msgspec.Struct, eq=False):
    """One event. `encoded` is its JSON, the same bytes in the log and for every subscriber."""

    type: str
    id: str
    timestamp: str
    parent_id: str | None
    encoded: bytes
    ephemeral: bool = False
    agent_id: str | None = None
    _data: Data | None = None
    _raw: msgspec.Raw = wire.NULL

    @property
    def data(self) -> Data:
        """The typed payload; Unknown when the type, or the shape, is not one that we know."""
        if self._data is None:
            self._data = payload(self.type, self._raw)
        return self._data

    def __repr__(self) -> str:
        return f"Event({self.type}, {self.data!r})"


def payload(type: str, raw: msgspec.Raw) -> Data:
    """Decode a payload; Unknown when the type, or the shape, is not one that we know."""
    kind = EVENTS.get(type)
    try:
        return wire.decode(raw, kind) if kind else Unknown()
    except InvalidParams:
        return Unknown()


def seal(
    data: Data, *, parent_id: str | None, ephemeral: bool | None = None, agent_id: str | None = None
) -> Event:
    """Stamp a payload with an id and the time, and encode it."""
    kind = type(data)
    fleeting = kind.ephemeral if ephemeral is None else ephemeral
    name, id, timestamp = kind.event_type, wire.new_id(), wire.now()
    envelope = _Envelope(name, data, id, timestamp, parent_id, fleeting, agent_id)
    encoded = countable(name, wire.encode(envelope))
    return Event(name, id, timestamp, parent_id, encoded, fleeting, agent_id, data)


def parse(line: bytes) -> Event:
    """Read one line of a log. Raises InvalidParams when it isn't an event."""
    try:
        try:
            found = _decoder.decode(line)
        except msgspec.DecodeError:
            found = _decoder.decode(wire.whole(line))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidParams(explain(error)) from error
    return Event(
        found.type,
        found.id,
        found.timestamp,
        found.parent_id,
        line,
        found.ephemeral,
        found.agent_id,
        _raw=found.data,
    )


def parse_lines(block: bytes) -> list[Logged]:
    """Read many lines at once, which costs far less than one by one.

    Raises InvalidParams when some of it isn't JSON, UTF-8 or an event, or doesn't stand on a line of its own.
    """
    try:
        if not block.isascii():
            block.decode()
        found = _decoder.decode_lines(block)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidParams(explain(error)) from error
    if len(found) != _count_lines(block):
        raise InvalidParams("two events stand on one line, or one on two")
    return found


def _count_lines(block: bytes) -> int:
    """How many lines there are; `bytes.count` looks at each byte, and takes four times as long."""
    number, end = 0, block.find(b"\n")
    while end >= 0:
        number += 1
        end = block.find(b"\n", end + 1)
    return number + (not block.endswith(b"\n"))


def countable(type: str, encoded: bytes) -> bytes:
    """Escape quoted mentions of a turn's start, so that `grep -c assistant.turn_start` counts turns alone.

    JSON allows any character to be escaped; the underscore can't be part of an escape sequence itself.
    """
    # Asked by `in`, bytes first take what is looked for as a number, and drop an exception each time.
    if type != TURN_START and encoded.find(b"turn_start") >= 0:
        return encoded.replace(b"turn_start", b"turn\\u005fstart")
    return encoded
