"""Answers of a chat-completions server, whole and as events."""

from collections.abc import Iterator

from turnwright.protocol.wire import Json, encode
from turnwright.testing.answers import (
    ARGUMENTS_PIECE,
    TEXT_PIECE,
    Say,
    Send,
    ServedAnswer,
    arguments_text,
    call,
    cut,
    pieces_of,
    refuse,
    say,
    send_json,
    stall,
)

__all__ = [
    "DONE",
    "ChatAnswer",
    "Say",
    "Send",
    "call",
    "cut",
    "event",
    "refuse",
    "say",
    "send_events",
    "send_json",
    "stall",
    "stream",
    "whole",
]

ChatAnswer = ServedAnswer
_USAGE: Json = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def send_events(*chunks: Json, done: bool = True) -> Send:
    """A stream of `chunks` as they are, by default ended properly."""
    return Send([event(chunk) for chunk in chunks] + ([DONE] if done else []))


def event(chunk: Json) -> bytes:
    """One event of a stream."""
    return b"data: " + encode(chunk) + b"\n\n"


DONE = b"data: [DONE]\n\n"


def whole(answer: Say, model: str, number: int) -> Json:
    """`answer` as the body of a plain response, the server's `number`th."""
    message: dict[str, Json] = {"role": "assistant", "content": answer.text or None}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = _calls(answer, number)
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
    head = _head("chat.completion", model, number)
    return {**head, "choices": [choice], "usage": _usage(answer)}


def stream(answer: Say, model: str, number: int, *, usage: bool) -> Iterator[bytes]:
    """`answer` as events, in pieces small enough that none holds a whole word or argument."""
    head = _head("chat.completion.chunk", model, number)

    def chunk(delta: dict[str, Json], finish: str | None = None) -> bytes:
        return event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces_of(answer.reasoning, TEXT_PIECE):
        yield chunk({"reasoning_content": piece})
    for piece in pieces_of(answer.text, TEXT_PIECE):
        yield chunk({"content": piece})
    for index, made in enumerate(_calls(answer, number)):
        arguments = made["function"]["arguments"]
        opened = {**made, "index": index, "function": {**made["function"], "arguments": ""}}
        yield chunk({"tool_calls": [opened]})
        for piece in pieces_of(arguments, ARGUMENTS_PIECE):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _finish(answer))
    if usage:
        yield event({**head, "choices": [], "usage": _usage(answer)})
    yield DONE


def _head(kind: str, model: str, number: int) -> dict[str, Json]:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 0, "model": model}


def _calls(answer: Say, number: int) -> list[dict[str, Json]]:
    return [
        {
            "id": f"call_{number}_{index}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments_text(arguments),
            },
        }
        for index, (name, arguments) in enumerate(answer.calls)
    ]


def _finish(answer: Say) -> str:
    return answer.finish_reason or ("tool_calls" if answer.calls else "stop")


def _usage(answer: Say) -> Json:
    return _USAGE if answer.usage is None else answer.usage
