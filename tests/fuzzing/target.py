"""What is fuzzed: a reader, inputs that it should take, and what must hold of any other."""

from collections.abc import Callable, Iterable
from typing import NamedTuple


class Broken(Exception):
    """A reader took an input, and did with it what it must not."""


class InvalidRequest(Broken):
    """What was read leads to a request that a strict server refuses."""


class Target(NamedTuple):
    """A reader under test.

    `attempt` feeds it one input; it raises nothing, whatever the input, or there is a fault. Errors that the
    reader documents are caught in it. `tokens` are pieces of its language, for mutations.
    """

    name: str
    samples: Callable[[], list[bytes]]
    tokens: tuple[bytes, ...]
    attempt: Callable[[bytes], None]


def require(holds: bool, what: str, kind: type[Broken] = Broken) -> None:
    """Raise `kind` unless something holds."""
    if not holds:
        raise kind(what)


def pieces_of(data: bytes, size: int) -> Iterable[bytes]:
    """Data in pieces of so many bytes; all at once if that is 0."""
    step = size or len(data) or 1
    return (data[start : start + step] for start in range(0, len(data), step))


JSON_TOKENS = (
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b'"',
        b"\\",
        b"null",
        b"true",
        b"0",
        b"-1",
        b"1e999",
        b"1e-400",
        b'""',
        b"{}",
    ),
    *(
        b"18446744073709551616",
        b"9007199254740993",
        b"\\u0000",
        b"\\ud83d",
        b"\\ude00",
        b"\xff",
        b"\xc3",
        b"\xf0\x9f\x98\x80",
    ),
    *(b"\0", b"\n", b"\r", b"\r\n", b"\xef\xbb\xbf", b" ", b"\xe2\x80\xa8"),
)
"""Pieces of JSON, of what is nearly JSON, and of what isn't UTF-8."""
