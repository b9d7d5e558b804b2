"""Where a request differs from the recorded one, as people read it."""

import difflib
from collections.abc import Iterator
from itertools import zip_longest

import msgspec

from turnwright.recording.form import Exchange, Said, Text, as_text

CONTEXT = 3


class Difference(msgspec.Struct, frozen=True):
    """The first thing that differs: in which request (counted from 1), where in it, and the lines that do."""

    request: int
    where: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join((f"request {self.request}, {self.where}:", *self.lines))


def difference(number: int, expected: Exchange, actual: Exchange) -> Difference | None:
    """Compare what the model was told; None where that is the same."""
    for where, was, now in _parts(expected, actual):
        if was != now:
            return Difference(number, where, tuple(_diff(was, now)))
    return None


def _parts(expected: Exchange, actual: Exchange) -> Iterator[tuple[str, str, str]]:
    yield "conversation", expected.conversation, actual.conversation
    yield "system prompt", _text(expected.system, "as before"), _text(actual.system, "as before")
    yield "start of the conversation", _start(expected), _start(actual)
    pairs = zip_longest(expected.messages, actual.messages)
    for number, (was, now) in enumerate(pairs, 1):
        kind = _kind(was or now)
        yield f"new message {number} ({kind})", _told(was), _told(now)


def _kind(said: Said | None) -> str:
    match said:
        case Said(of=str(call)):
            return f"result of {call}"
        case Said(user=None):
            return "assistant"
        case _:
            return "user"


def _told(said: Said | None) -> str:
    if said is None:
        return "(no message)"
    body = as_text(next(text for text in (said.user, said.result, said.assistant, "") if text is not None))
    notes = [_kind(said), *(f"calls {call}" for call in said.calls), *(f"image {i}" for i in said.images)]
    return f"[{', '.join(notes)}]\n{body}"


def _start(exchange: Exchange) -> str:
    return "begins anew" if exchange.anew else "goes on"


def _text(text: Text | None, absent: str) -> str:
    return f"({absent})" if text is None else as_text(text)


def _diff(was: str, now: str) -> Iterator[str]:
    lines = difflib.unified_diff(
        was.splitlines(), now.splitlines(), "recorded", "now", lineterm="", n=CONTEXT
    )
    yield from lines
