"""Answers of a server of Anthropic's messages, whole and as events."""

from collections.abc import Iterator

from turnwright.protocol.wire import Json, encode, loads
from turnwright.providers.loose import an_object
from turnwright.testing.answers import (
    ARGUMENTS_PIECE,
    TEXT_PIECE,
    Say,
    Send,
    arguments_text,
    pieces_of,
    send_json,
)

_USAGE: Json = {
    "input_tokens": 11,
    "output_tokens": 7,
    "cache_read_input_tokens": 0,
    "cache_creation_input_tokens": 0,
}


def whole(answer: Say, model: str, number: int) -> Json:
    """`answer` as the body of a plain response, the server's `number`th; arguments must be objects."""
    blocks = [_closed(block, pieces) for block, pieces in _blocks(answer, number)]
    return {**_message(answer, model, number), "content": blocks, **_end(answer)}


def stream(answer: Say, model: str, number: int) -> Iterator[bytes]:
    """`answer` as events, in small pieces."""
    unfinished: dict[str, Json] = {"content": [], "stop_reason": None, "stop_sequence": None}
    start = {**_message(answer, model, number), **unfinished}
    yield event({"type": "message_start", "message": start})
    yield event({"type": "ping"})
    for index, (block, pieces) in enumerate(_blocks(answer, number)):
        yield event({"type": "content_block_start", "index": index, "content_block": block})
        for kind, name, text in pieces:
            delta = {"type": kind, name: text}
            yield event({"type": "content_block_delta", "index": index, "delta": delta})
        yield event({"type": "content_block_stop", "index": index})
    yield event({"type": "message_delta", "delta": _end(answer), "usage": _usage(answer)})
    yield event({"type": "message_stop"})


def event(data: Json) -> bytes:
    """One event of a stream, named by its type."""
    return b"event: %b\ndata: %b\n\n" % (data["type"].encode(), encode(data))


def refuse(status: int, message: str, code: str) -> Send:
    """An HTTP error in the interface's shape."""
    return send_json({"type": "error", "error": {"type": code, "message": message}}, status=status)


def send_events(*events: Json) -> Send:
    """A stream of `events` as they are."""
    return Send([event(data) for data in events])


_Piece = tuple[str, str, str]
"""A delta's type, the field that it adds to, and what it adds."""


def _blocks(answer: Say, number: int) -> Iterator[tuple[dict[str, Json], list[_Piece]]]:
    """The blocks of `answer` as they are opened, and the pieces that fill them."""
    if answer.reasoning:
        thoughts = [("thinking_delta", "thinking", p) for p in pieces_of(answer.reasoning, TEXT_PIECE)]
        signature = ("signature_delta", "signature", f"signature-{number}")
        yield {"type": "thinking", "thinking": "", "signature": ""}, [*thoughts, signature]
    if answer.text:
        yield (
            {"type": "text", "text": "", "citations": None},
            [("text_delta", "text", piece) for piece in pieces_of(answer.text, TEXT_PIECE)],
        )
    for index, (name, arguments) in enumerate(answer.calls):
        text = arguments_text(arguments)
        yield (
            {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": name, "input": {}},
            [("input_json_delta", "partial_json", piece) for piece in pieces_of(text, ARGUMENTS_PIECE)],
        )


def _closed(block: dict[str, Json], pieces: list[_Piece]) -> dict[str, Json]:
    if block["type"] == "tool_use":
        return {**block, "input": an_object(loads("".join(text for _, _, text in pieces) or "{}"))}
    closed = dict(block)
    for _, name, text in pieces:
        closed[name] += text
    return closed


def _message(answer: Say, model: str, number: int) -> dict[str, Json]:
    head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": model}
    return {**head, "usage": _usage(answer)}


def _end(answer: Say) -> dict[str, Json]:
    usual = "tool_use" if answer.calls else "end_turn"
    return {"stop_reason": answer.finish_reason or usual, "stop_sequence": None}


def _usage(answer: Say) -> Json:
    return _USAGE if answer.usage is None else answer.usage
