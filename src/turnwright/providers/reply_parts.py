"""A reply as the parts that the model made, in their order.

Some APIs give parts that mean nothing to anybody else, such as signed or encrypted reasoning, and want them
back unchanged and in their places among the text and the calls. A reply keeps them beside its text: as JSON
that holds these parts whole and, of the others, only where they stood.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from turnwright.errors import InvalidParams
from turnwright.protocol.messages import Assistant, FinishReason, Reply, ToolCall
from turnwright.protocol.wire import Json, Wire, decode, encode
from turnwright.providers.tool_calls import CUT_SHORT, is_json, with_unique_ids


class Said(msgspec.Struct, frozen=True):
    """A piece of the reply's text; `phase` is what the API calls it, where it does."""

    text: str
    phase: str = ""


Part = Said | ToolCall | dict[str, Json]
"""Text, a call, or a part of the API's own."""


class _Place(Wire):
    """Exactly one of: a part of the API's own, so many characters of the text, the next call."""

    own: dict[str, Any] | None = None
    text: int | None = None
    phase: str = ""
    call: bool = False


class _Kept(Wire):
    source: str
    parts: list[_Place]


def reply_of(parts: Sequence[Part], rest: Reply, *, source: str, taken: set[str]) -> Reply:
    """Return `rest` with the parts in it. Halves of calls, of a reply that was cut short, are left out.

    `source` names the API and the model: nobody else is sent the parts that are its own. A call whose id is
    missing, or is in `taken` or used twice, gets a new one.
    """
    halves = [part for part in parts if isinstance(part, ToolCall) and _is_half(part, rest.finish_reason)]
    whole = [part for part in parts if part not in halves]
    calls = with_unique_ids((part for part in whole if isinstance(part, ToolCall)), taken)
    called = bool(calls) and rest.finish_reason not in CUT_SHORT
    return msgspec.structs.replace(
        rest,
        content="".join(part.text for part in whole if isinstance(part, Said)) or rest.content,
        tool_calls=calls,
        finish_reason="tool_calls" if called else rest.finish_reason,
        reasoning_data=_kept(whole, source),
        cut_call=halves[-1].name if halves else None,
    )


def parts_of(message: Assistant, source: str) -> Iterator[Part]:
    """Yield the parts of a reply in the order in which the model made them, as far as `source` knows it."""
    text, calls = message.content, iter(message.tool_calls)
    for place in _places(message.reasoning_data, source):
        if place.own is not None:
            yield place.own
        elif place.text is not None:
            piece, text = text[: place.text], text[place.text :]
            yield Said(piece, place.phase)
        elif (call := next(calls, None)) is not None:
            yield call
    if text:
        yield Said(text)
    yield from calls


def _is_half(call: ToolCall, finish: FinishReason) -> bool:
    return finish in CUT_SHORT and not is_json(call.arguments)


def _kept(parts: Iterable[Part], source: str) -> str | None:
    places = list(map(_place, parts))
    if not any(place.own or place.phase for place in places):
        return None
    return encode(_Kept(source, places)).decode()


def _place(part: Part) -> _Place:
    match part:
        case Said(text, phase):
            return _Place(text=len(text), phase=phase)
        case ToolCall():
            return _Place(call=True)
        case _:
            return _Place(own=part)


def _places(kept: str | None, source: str) -> list[_Place]:
    if kept is None:
        return []
    try:
        found = decode(kept.encode(), _Kept)
    except InvalidParams:
        return []  # another runtime's log may keep its own form here
    return found.parts if found.source == source else []
