"""A chunk of a chat-completions answer: decoded at once in the usual form, read tolerantly in any other."""

from typing import Annotated, Any

import msgspec

from turnwright.protocol.wire import Json, decode_or_none, encode
from turnwright.providers.loose import a_count, a_text, an_array, an_object

_Count = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
"""What `a_count` takes."""


class Function(msgspec.Struct, gc=False):
    """A part of what is called, and with which arguments."""

    name: str | None = None
    arguments: str | None = None


class CallPiece(msgspec.Struct, gc=False):
    """A part of a tool call, or a whole one."""

    index: _Count | None = None
    id: str | None = None
    function: Function | None = None


class Delta(msgspec.Struct, gc=False):
    """A part of a message, or a whole one; servers differ in what they call reasoning."""

    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_text: str | None = None
    tool_calls: list[CallPiece] | None = None


class Choice(msgspec.Struct, gc=False):
    """A part of one of the messages that are the reply."""

    index: _Count | None = None
    delta: Delta | None = None
    finish_reason: str | None = None
    message: None = None


class Chunk(msgspec.Struct, gc=False):
    """A chunk of a stream, or a whole answer.

    What must be null or absent keeps other forms out, which are read as JSON first: whole messages, errors,
    and events of a type of their own.
    """

    id: str | None = None
    model: str | None = None
    choices: list[Choice] | None = None
    usage: dict[str, Any] | None = None
    error: None = None
    type: None = None


def usual_chunk(data: bytes) -> Chunk | None:
    """Decode a chunk of a stream in the form that nearly all servers send; None if it has another."""
    return decode_or_none(data, Chunk)


def chunk_of(answer: Json) -> Chunk:
    """Read a chunk or a whole answer of any form: what has a wrong type counts as absent."""
    fields = an_object(answer)
    return Chunk(
        id=a_text(fields.get("id")),
        model=a_text(fields.get("model")),
        choices=[_choice(an_object(choice)) for choice in an_array(fields.get("choices"))],
        usage=an_object(fields.get("usage")),
    )


def _choice(choice: dict[str, Json]) -> Choice:
    message = an_object(choice.get("message"))
    return Choice(
        index=a_count(choice.get("index")),
        delta=_delta(message or an_object(choice.get("delta")), whole=bool(message)),
        finish_reason=a_text(choice.get("finish_reason")),
    )


def _delta(piece: dict[str, Json], *, whole: bool) -> Delta:
    calls = [_call(an_object(call)) for call in an_array(piece.get("tool_calls"))]
    if whole:  # each call is one of its own, whatever index it has
        for place, call in enumerate(calls):
            call.index = place
    return Delta(
        content=_content(piece.get("content")),
        refusal=a_text(piece.get("refusal")),
        reasoning_content=a_text(piece.get("reasoning_content")),
        reasoning=a_text(piece.get("reasoning")),
        reasoning_text=a_text(piece.get("reasoning_text")),
        tool_calls=calls,
    )


def _call(call: dict[str, Json]) -> CallPiece:
    function = an_object(call.get("function"))
    arguments = function.get("arguments")
    # Some servers send the arguments as an object, which the interface doesn't allow.
    written = an_object(arguments)
    return CallPiece(
        index=a_count(call.get("index")),
        id=a_text(call.get("id")),
        function=Function(
            name=a_text(function.get("name")),
            arguments=encode(written).decode() if written else a_text(arguments),
        ),
    )


def _content(content: Json) -> str:
    if isinstance(content, str):
        return content
    return "".join(a_text(an_object(part).get("text")) for part in an_array(content))
