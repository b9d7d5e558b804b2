"""What a small model wrote: the call or answer in it, and an answer's text while it grows."""

import json
import re
from collections.abc import Sequence

import msgspec

from turnwright.protocol.messages import Assistant, Message, ToolCall, User
from turnwright.protocol.wire import Json, clean

_ANSWER_SO_FAR = re.compile(
    r"""\s*\{\s*"answer"\s*:\s*"(?P<text>(?:
        [^"\\]
      | \\["\\/bfnrt]
      | \\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}
      | \\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}
    )*)""",
    re.VERBOSE,
)


class WrittenCall(msgspec.Struct, frozen=True):
    """A tool call that the model wrote; `arguments` is JSON text."""

    name: str
    arguments: str


class AnswerText:
    """Picks the answer's text out of JSON that comes in pieces."""

    def __init__(self) -> None:
        self._written = ""
        self._told = 0

    def feed(self, piece: str) -> str:
        """Take the next piece and return what it adds to the answer, "" while that is open."""
        self._written += piece
        text = answer_so_far(self._written)
        added = text[self._told :]
        self._told = len(text)
        return added


def answer_so_far(written: str) -> str:
    """The answer's text in JSON that may be cut off anywhere, "" if it isn't an answer."""
    match = _ANSWER_SO_FAR.match(written)
    return json.loads(f'"{match["text"]}"', strict=False) if match else ""


def parse(written: str) -> WrittenCall | str | None:
    """The call or the answer in a whole reply; None when it was cut off or is neither."""
    try:
        reply: Json = json.loads(written, strict=False)
    except ValueError:
        return None
    match reply:
        case {"tool": str(name), "arguments": dict()}:
            return WrittenCall(name, json.dumps(reply["arguments"], ensure_ascii=False))
        case {"answer": str(answer)}:
            return clean(answer)
        case _:
            return None


def repeats(call: WrittenCall, messages: Sequence[Message]) -> bool:
    """Whether the model goes in circles: `call` is its last one over again, or was made twice before.

    Only calls since the user's last message count.
    """
    made = list(_calls_of_run(messages))
    same = [_is_same(call, each) for each in made]
    return bool(same) and (same[-1] or sum(same) >= 2)


def _calls_of_run(messages: Sequence[Message]) -> list[ToolCall]:
    calls: list[ToolCall] = []
    for message in reversed(messages):
        if isinstance(message, User):
            break
        if isinstance(message, Assistant):
            calls.extend(reversed(message.tool_calls))
    return calls[::-1]


def _is_same(written: WrittenCall, made: ToolCall) -> bool:
    if written.name != made.name:
        return False
    try:
        return json.loads(written.arguments) == json.loads(made.arguments or "{}")
    except ValueError:
        return False
