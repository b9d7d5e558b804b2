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


def parse(written: str, *, as_json: bool = False) -> WrittenCall | str | None:
    """The call or the answer in a whole reply; None when it was cut off or is neither.

    An answer is a text; one `as_json` is any value, in JSON.
    """
    try:
        reply: Json = json.loads(written, strict=False)
    except ValueError:
        return None
    match reply:
        case {"tool": str(name), "arguments": dict()}:
            return WrittenCall(name, json.dumps(reply["arguments"], ensure_ascii=False))
        case {"answer": answer} if as_json:
            return json.dumps(answer, ensure_ascii=False)
        case {"answer": str(answer)}:
            return clean(answer)
        case _:
            return None


def goes_in_circles(messages: Sequence[Message]) -> bool:
    """Whether the model's last call was its last one over again, or the same as two before.

    Only calls since the user's last message count.
    """
    *before, last = [_canonical(call) for call in _calls_of_run(messages)] or [None]
    return last is not None and (before[-1:] == [last] or before.count(last) >= 2)


def _calls_of_run(messages: Sequence[Message]) -> list[ToolCall]:
    calls: list[ToolCall] = []
    for message in reversed(messages):
        if isinstance(message, User):
            break
        if isinstance(message, Assistant):
            calls.extend(reversed(message.tool_calls))
    return calls[::-1]


def _canonical(call: ToolCall) -> tuple[str, Json] | None:
    """A call without its id and the spelling of its arguments; None when they aren't JSON."""
    try:
        return call.name, json.loads(call.arguments or "{}")
    except ValueError:
        return None
