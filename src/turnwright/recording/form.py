"""The file of a recording: what the model was told and what it replied, request by request."""

import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from turnwright.errors import InvalidParams, StoreError
from turnwright.protocol import wire
from turnwright.protocol.events.session import Mode
from turnwright.protocol.messages import FinishReason
from turnwright.protocol.wire import Wire

FORMAT: Literal[1] = 1
_LINES = re.compile(r"[^\n]*\n|[^\n]+")

Text = str | list[str]
"""A text; one of several lines is a list of them, each with its newline: people can read and diff that."""


def as_lines(text: str) -> Text:
    """A text in the form of the file."""
    lines: list[str] = _LINES.findall(text)
    return lines if len(lines) > 1 else text


def as_text(lines: Text) -> str:
    """A text of the file as it was."""
    return lines if isinstance(lines, str) else "".join(lines)


class Call(Wire):
    """A call that the model asked for; `arguments` is decoded, or the text as it came if it isn't JSON."""

    id: str
    name: str
    arguments: Any = None


class Said(Wire):
    """One message to the model: a user's, a tool's `result` to the call `of`, or an assistant's of before.

    `images` are media types and digests.
    """

    user: Text | None = None
    result: Text | None = None
    of: str | None = None
    assistant: Text | None = None
    calls: tuple[str, ...] = ()
    images: tuple[str, ...] = ()


class Tokens(Wire):
    """What a reply cost, as the provider counted."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


class Answer(Wire):
    """A reply."""

    text: Text = ""
    calls: tuple[Call, ...] = ()
    reasoning: Text = ""
    finish_reason: FinishReason = "stop"
    tokens: Tokens = msgspec.field(default_factory=Tokens)


class Failure(Wire):
    """A request that failed; after one that is `retried` the same request follows."""

    message: str
    status: int | None = None
    retried: bool = False


class Exchange(Wire):
    """One request, by what is new in it since the one before, and its reply; one without both was aborted.

    `conversation` tells a session's own requests from those for summaries, and sessions from each other.
    `anew` stands where the conversation before these messages was dropped or summarised.
    """

    conversation: str = "1"
    mode: Mode = "interactive"
    system: Text | None = None
    anew: bool = False
    messages: list[Said] = msgspec.field(default_factory=list[Said])
    reply: Answer | None = None
    failure: Failure | None = None


class Recording(Wire):
    """The exchanges with a model, in the order of the requests; `window` is its context window in tokens."""

    turnwright: Literal[1]
    model: str
    window: int | None = None
    exchanges: list[Exchange] = msgspec.field(default_factory=list[Exchange])


def read(path: Path) -> Recording:
    """Read a recording. Raises StoreError when it can't be read, naming the field that is wrong."""
    try:
        return wire.decode(path.read_bytes(), Recording)
    except OSError as error:
        raise StoreError(f"can't read {path}: {error.strerror}") from error
    except InvalidParams as error:
        raise StoreError(f"{path} is no recording: {error}") from error


def write(recording: Recording, path: Path) -> None:
    """Write a recording, in the place of one that is there. Raises StoreError."""
    encoded = msgspec.json.format(wire.encode(recording), indent=2)
    draft = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(encoded + b"\n")
        draft.replace(path)
    except OSError as error:
        raise StoreError(f"can't write {path}: {error.strerror}") from error
