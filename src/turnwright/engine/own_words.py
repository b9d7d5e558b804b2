"""What the user wrote, kept beside a summary: a model's account of an instruction is not the instruction."""

from collections import deque
from collections.abc import Sequence

LONGEST_SHARE = 0.25
"""How much of the room one message may take."""


def fit(messages: Sequence[str], room: int) -> list[str]:
    """The messages within so many characters: a long one loses its middle, and the oldest but the first go.

    The first one mostly says what all of it is for, the last ones what is wanted now.
    """
    if not messages:
        return []
    longest = int(room * LONGEST_SHARE)
    first, *rest = (shortened(message, longest) for message in messages)
    left = room - len(first)
    kept: deque[str] = deque()
    for message in reversed(rest):
        left -= len(message)
        if left < 0:
            break
        kept.appendleft(message)
    return [first, *kept]


def shortened(text: str, longest: int) -> str:
    """The text, or its start and its end with a note of how much is missing between them."""
    missing = len(text) - longest
    if missing <= 0:
        return text
    half = longest // 2
    return f"{text[:half]}\n[... {missing} characters left out ...]\n{text[len(text) - longest + half :]}"
