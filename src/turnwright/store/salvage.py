"""What a damaged line of a log still holds: whole events, and what is none."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import msgspec

from turnwright.errors import InvalidParams
from turnwright.protocol.envelope import Event, parse

MOST_STARTS = 1000
NEAREST_ENDS = 4
LONGEST_SEAM = 4
"""Bytes of junk that may stand between two events on one line; any number of NULs may."""

_START = re.compile(rb'\{\s*"type"\s*:')
_BLANK = b"\0 \t\r\n"


class Piece(NamedTuple):
    """A part of a damaged line."""

    data: bytes
    event: Event | None


class _Strict(msgspec.Struct, rename="camel"):
    """The envelope of a log: what a tool call quotes mostly lacks some of it."""

    type: str
    id: str
    timestamp: str
    parent_id: str | None


def event_of(line: bytes) -> Event | None:
    """The event that a line is, the whole of it; None when it is none, or isn't UTF-8."""
    try:
        if not line.isascii():
            line.decode()
        return parse(line)
    except (InvalidParams, UnicodeDecodeError):
        return None


def events_of(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events of a log's lines, those on damaged lines too."""
    for line in lines:
        event = event_of(line)
        if event is not None:
            yield event
        else:
            yield from (piece.event for piece in salvage(line, ended=True) if piece.event is not None)


def salvage(line: bytes, *, ended: bool) -> list[Piece]:
    """Part a line that is no event into whole events and the rest, in order.

    A line without its end was cut somewhere: there nothing is believed that stands behind the first damage.
    """
    starts = [found.start() for found in islice(_START.finditer(line), MOST_STARTS)]
    ends = list(_ends(line, starts))
    pieces: list[Piece] = []
    done = 0
    for start in starts:
        junk = line[done:start]
        if start < done:
            continue
        if not ended and junk.strip(_BLANK):
            break
        end, event = _event_at(line, start, ends)
        if event is not None:
            pieces += [Piece(junk, None)] if junk else []
            pieces.append(Piece(line[start:end], event))
            done = end
    if done < len(line):
        pieces.append(Piece(line[done:], None))
    return pieces


def _ends(line: bytes, starts: list[int]) -> Iterator[int]:
    """Where an event may end: before another one, or at the last brace of all."""
    for start in (*starts[1:], len(line)):
        end = line.rfind(b"}", 0, start) + 1
        seam = line[end:start]
        if start == len(line) or len(seam) <= LONGEST_SEAM or not seam.strip(_BLANK):
            yield end


def _event_at(line: bytes, start: int, ends: list[int]) -> tuple[int, Event | None]:
    following = [end for end in ends if end > start]
    for end in dict.fromkeys((*following[:NEAREST_ENDS], *following[-1:])):
        event = event_of(line[start:end])
        if event is not None and _has_envelope(event.encoded):
            return end, event
    return start, None


def _has_envelope(encoded: bytes) -> bool:
    try:
        msgspec.json.decode(encoded, type=_Strict)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True
