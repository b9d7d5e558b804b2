"""The answers that a chat server under test gives: proper replies, and every way to fail."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import anyio

from turnwright.protocol.wire import Json, encode

_TEXT_PIECE = 5
_ARGUMENTS_PIECE = 7


@dataclass(frozen=True)
class Say:
    """A proper reply: text, reasoning and calls of (name, arguments), streamed if the request asks for it.

    Arguments are an object, or text to send as it is. With a `gate`, the answer waits until it is set.
    """

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Json] | str]] = ()
    reasoning: str = ""
    finish_reason: str | None = None
    usage: Mapping[str, Json] = field(
        default_factory=lambda: {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    )
    gate: anyio.Event | None = None


@dataclass(frozen=True)
class Send:
    """Bytes sent as they are, each of `pieces` by itself; then the end, silence for ever, or a cut."""

    pieces: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    then: Literal["end", "stall", "cut"] = "end"
    gate: anyio.Event | None = None


ChatAnswer = Say | Send


def say(text: str) -> Say:
    """A reply that is only text."""
    return Say(text)


def call(name: str, arguments: Mapping[str, Json] | str = "{}") -> Say:
    """A reply that asks for one tool."""
    return Say(calls=[(name, arguments)])


def send_json(value: Json, *, status: int = 200, headers: Mapping[str, str] = {}) -> Send:
    """A JSON body as it is."""
    return Send([encode(value)], status, {"content-type": "application/json", **headers})


def refuse(status: int, message: str, *, code: str | None = None, headers: Mapping[str, str] = {}) -> Send:
    """An HTTP error in the interface's shape."""
    error = {"message": message, "type": code or "error", "code": code}
    return send_json({"error": error}, status=status, headers=headers)


def send_events(*chunks: Json, done: bool = True) -> Send:
    """A stream of `chunks` as they are, by default ended properly."""
    return Send([event(chunk) for chunk in chunks] + ([DONE] if done else []))


def stall(*pieces: bytes) -> Send:
    """Headers and `pieces`, then silence for ever."""
    return Send(pieces, then="stall")


def cut(*pieces: bytes) -> Send:
    """Headers and `pieces`, then a broken connection."""
    return Send(pieces, then="cut")


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
    return {**head, "choices": [choice], "usage": answer.usage}


def stream(answer: Say, model: str, number: int, *, usage: bool) -> Iterator[bytes]:
    """`answer` as events, in pieces small enough that none holds a whole word or argument."""
    head = _head("chat.completion.chunk", model, number)

    def chunk(delta: dict[str, Json], finish: str | None = None) -> bytes:
        return event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(answer.reasoning, _TEXT_PIECE):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(answer.text, _TEXT_PIECE):
        yield chunk({"content": piece})
    for index, made in enumerate(_calls(answer, number)):
        arguments = made["function"]["arguments"]
        opened = {**made, "index": index, "function": {**made["function"], "arguments": ""}}
        yield chunk({"tool_calls": [opened]})
        for piece in _pieces(arguments, _ARGUMENTS_PIECE):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _finish(answer))
    if usage:
        yield event({**head, "choices": [], "usage": answer.usage})
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
                "arguments": arguments if isinstance(arguments, str) else encode(arguments).decode(),
            },
        }
        for index, (name, arguments) in enumerate(answer.calls)
    ]


def _finish(answer: Say) -> str:
    return answer.finish_reason or ("tool_calls" if answer.calls else "stop")


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))
