"""Decoding a log's lines straight into what is asked of them, and many at once."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import msgspec

from turnwright.protocol.events.conversation import AssistantMessage
from turnwright.protocol.events.tools import ToolComplete
from turnwright.protocol.wire import Wire
from turnwright.store.heads import head
from turnwright.store.usage import Record

D = TypeVar("D")
T = TypeVar("T")


class Call(Wire):
    """Of a call, its id."""

    tool_call_id: str


class Reply(Wire):
    """What tells how many messages a reply and its results are."""

    content: str
    tool_requests: list[Call]


class ModelCall(Wire):
    """What a model call has used."""

    usage: Record


class ReplyLine(Wire):
    """The line of a reply, for what stands in `Reply`."""

    data: Reply


class ModelCallLine(Wire):
    """The line of a `session.usage_record`."""

    data: ModelCall


class Said(msgspec.Struct, Generic[D], rename="camel"):
    """A line of the conversation: its payload, and the sub-agent that it is of."""

    data: D
    agent_id: str | None = None
    ephemeral: bool = False


REPLIES = msgspec.json.Decoder(ReplyLine)
MODEL_CALLS = msgspec.json.Decoder(ModelCallLine)
EDITS = msgspec.json.Decoder(Said[ToolComplete])
SAID: dict[bytes, msgspec.json.Decoder[Said[Any]]] = {
    head("assistant.message"): msgspec.json.Decoder(Said[AssistantMessage]),
    head("tool.execution_complete"): EDITS,
}
"""What decodes the lines that the history has most of, at once and not the envelope first."""


def decoded(decoder: msgspec.json.Decoder[T], lines: Sequence[bytes]) -> Sequence[T | None]:
    """Decode lines at once, which takes half as long as one by one; None for each that doesn't fit."""
    together = b"".join(lines)
    try:
        if not together.isascii():
            together.decode()
        found = decoder.decode_lines(together)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        found = []
    return found if len(found) == len(lines) else [_decoded(decoder, line) for line in lines]


def said(line: bytes, decoder: msgspec.json.Decoder[Said[Any]] | None) -> Said[Any] | None:
    """What a line says, if the decoder for its beginning can tell; else it is to be read as an event."""
    return None if decoder is None else _decoded(decoder, line)


def _decoded(decoder: msgspec.json.Decoder[T], line: bytes) -> T | None:
    try:
        if not line.isascii():
            line.decode()
        return decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
