"""What is wrong with a log, and in which line."""

from typing import Literal

from turnwright.protocol.wire import Wire

Rule = Literal[
    "line", "shape", "start", "chain", "id", "time", "ephemeral", "turn", "call", "question", "sum"
]


class Finding(Wire):
    """`line` counts from 1. What isn't `broken` is allowed, but worth a look."""

    line: int
    rule: Rule
    text: str
    broken: bool


def broken(line: int, rule: Rule, text: str) -> Finding:
    """Something that a reader of the log may trip over."""
    return Finding(line, rule, text, broken=True)


def note(line: int, rule: Rule, text: str) -> Finding:
    """Something unusual that no reader trips over."""
    return Finding(line, rule, text, broken=False)
