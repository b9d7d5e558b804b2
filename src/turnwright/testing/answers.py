"""The answers that a model server under test gives: proper replies, and every way to fail."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import anyio

from turnwright.protocol.wire import Json, encode

TEXT_PIECE = 5
ARGUMENTS_PIECE = 7
"""Characters of one piece of a stream: few enough that none holds a whole word or argument."""


@dataclass(frozen=True)
class Say:
    """A proper reply: text, reasoning and calls of (name, arguments), streamed if the request asks for it.

    Arguments are an object, or text to send as it is. The finish reason and the usage are in the words of the
    server's API; None stands for what is usual. With a `gate`, the answer waits until it is set.
    """

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Json] | str]] = ()
    reasoning: str = ""
    finish_reason: str | None = None
    usage: Mapping[str, Json] | None = None
    gate: anyio.Event | None = None


@dataclass(frozen=True)
class Send:
    """Bytes sent as they are, each of `pieces` by itself; then the end, silence for ever, or a cut.

    Pieces that are no sequence, and may never end, do for one request.
    """

    pieces: Iterable[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    then: Literal["end", "stall", "cut"] = "end"
    gate: anyio.Event | None = None


ServedAnswer = Say | Send
"""What a server under test answers a request with."""


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
    """An HTTP error in the shape of OpenAI's APIs."""
    error = {"message": message, "type": code or "error", "code": code}
    return send_json({"error": error}, status=status, headers=headers)


def stall(*pieces: bytes) -> Send:
    """Headers and `pieces`, then silence for ever."""
    return Send(pieces, then="stall")


def cut(*pieces: bytes) -> Send:
    """Headers and `pieces`, then a broken connection."""
    return Send(pieces, then="cut")


def arguments_text(arguments: Mapping[str, Json] | str) -> str:
    """The arguments of a call as text."""
    return arguments if isinstance(arguments, str) else encode(arguments).decode()


def pieces_of(text: str, size: int) -> Iterator[str]:
    """`text` in pieces of at most `size` characters."""
    return (text[start : start + size] for start in range(0, len(text), size))
