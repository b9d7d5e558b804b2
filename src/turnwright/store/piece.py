"""Some lines of a log at once, sorted by what they are as far as that shows without decoding them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import compress
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeVar

from turnwright.store.heads import AFTER_ID, BEFORE_ID, BEFORE_ID_AT, DATA, END, ID_AT, ID_TO, head
from turnwright.store.kinds import ANSWERED, ASKED, MATTER_TO_NO_FOLD
from turnwright.store.lines import EDITS, MODEL_CALLS, REPLIES, decoded

T = TypeVar("T")

ODD: Final = 0
"""To be decoded as a whole: no line of ours, not behind its parent, or of a type of which there are few."""
UNSAID, SYSTEM, REPLY, RESULT, EDIT, MODEL_CALL, START, STOP, ASK, ANSWER = range(1, 11)
"""What matters to no fold; a result that edited no file and one that may have; a turn's start and its end."""

_KINDS = {
    **{head(name): UNSAID for name in MATTER_TO_NO_FOLD},
    head("system.message"): SYSTEM,
    head("assistant.message"): REPLY,
    head("tool.execution_complete"): RESULT,
    head("session.usage_record"): MODEL_CALL,
    head("assistant.turn_start"): START,
    head("assistant.turn_end"): STOP,
    **{head(name): ASK for name in ASKED},
    **{head(name): ANSWER for name in ANSWERED},
}
_FILE_EDITS = b'"fileEdits"'
_NO_EDITS = b'},"toolTelemetry":{}'
_NO_EDITS_AT = BEFORE_ID_AT - len(_NO_EDITS)
_BEFORE_RESULT = 512
"""Bytes in which all stands that our results say before what the tool gave."""
_ONLY = {kind: bytes(each == kind for each in range(256)) for kind in range(ANSWER + 1)}


class Piece(NamedTuple):
    """Of each line its kind; and by kind what was read of its lines: an id, or what stands in `lines`."""

    kinds: bytearray
    read: dict[int, Iterator[Any]]


def sort(lines: Sequence[bytes], last_id: bytes) -> Piece:
    """Sort lines, with their newlines, that follow on the event of an id.

    A line is told by its first bytes and by its end, which names the event before it: so two that were fused
    are not taken for one.
    """
    # `head_of` is written out: the call would cost as much as what it does
    kinds = bytearray([_KINDS.get(line[: line.find(b'"', 9, 72) + 10], ODD) for line in lines])
    if lines and not _are_chained(lines, last_id):
        ids = [last_id, *map(_ID, lines)]
        for place, line in enumerate(lines):
            if not _are_chained((line,), ids[place]):
                kinds[place] = ODD
    for place in of_kind(RESULT, kinds, range(len(lines))):
        if _may_have_edits(lines[place]):
            kinds[place] = EDIT
    read: dict[int, Iterator[Any]] = {}
    for kind, read_all in _READERS.items():
        found = read_all(list(of_kind(kind, kinds, lines))) if kind in kinds else ()
        if None in found:
            for place, each in zip(list(of_kind(kind, kinds, range(len(lines)))), found, strict=True):
                if each is None:
                    kinds[place] = ODD
        read[kind] = (each for each in found if each is not None)
    return Piece(kinds, read)


def _may_have_edits(line: bytes) -> bool:
    """Whether a result may tell of edits: ours do between what the tool gave and its telemetry.

    Those of others are looked for from the end: it is nearer, and where there are none `rfind` takes less
    time than `in`.
    """
    if line[_NO_EDITS_AT:BEFORE_ID_AT] == _NO_EDITS and line.find(_FILE_EDITS, 0, _BEFORE_RESULT) < 0:
        return False
    return line.rfind(_FILE_EDITS) >= 0


def of_kind(kind: int, kinds: bytearray, things: Iterable[T]) -> Iterator[T]:
    """Of as many things as there are lines, those that belong to lines of a kind."""
    return compress(things, kinds.translate(_ONLY[kind]))


def _are_chained(lines: Sequence[bytes], last_id: bytes) -> bool:
    """Whether each line ends like ours, and names the event before it."""
    told = BEFORE_ID + last_id + b"".join(map(_UP_TO_ID, lines))
    named = b"".join(map(_PARENT_ID, lines))
    return told.replace(BEFORE_ID, END + AFTER_ID) == END + named + AFTER_ID + lines[-1][ID_AT:ID_TO]


def _names(field: bytes, lines: Sequence[bytes]) -> Sequence[bytes | None]:
    """The text in the first field of each line's payload, if it is that field and a plain text."""
    starts = [line.find(field, 9, 96) + len(field) for line in lines]
    names = [line[start : line.find(b'"', start)] for line, start in zip(lines, starts, strict=True)]
    if min(starts) >= len(field) and _is_plain(b"".join(names)):
        return names
    pairs = zip(names, starts, strict=True)
    return [name if start >= len(field) and _is_plain(name) else None for name, start in pairs]


def _is_plain(text: bytes) -> bool:
    return text.isascii() and text.find(b"\\") < 0


_ID, _UP_TO_ID = itemgetter(slice(ID_AT, ID_TO)), itemgetter(slice(BEFORE_ID_AT, ID_TO))
_PARENT_ID = itemgetter(slice(-len(AFTER_ID) - ID_TO + ID_AT - len(END), None))
_READERS: dict[int, Callable[[Sequence[bytes]], Sequence[Any]]] = {
    REPLY: partial(decoded, REPLIES),
    MODEL_CALL: partial(decoded, MODEL_CALLS),
    EDIT: partial(decoded, EDITS),
    START: partial(_names, DATA + b'"turnId":"'),
    STOP: partial(_names, DATA + b'"turnId":"'),
    ASK: partial(_names, DATA + b'"requestId":"'),
    ANSWER: partial(_names, DATA + b'"requestId":"'),
}
