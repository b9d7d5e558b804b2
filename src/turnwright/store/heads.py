"""The first bytes of a log's line, which tell the event's type without decoding it."""

TYPE, DATA = b'{"type":"', b'","data":{'
assert (len(TYPE), len(DATA)) == (9, 10), "as they stand in head_of, which is called for every line"


def head(name: str) -> bytes:
    """How our lines of a type begin."""
    return TYPE + name.encode() + DATA


def head_of(line: bytes) -> bytes:
    """How a line begins, as far as `head` gives it; something else where the line is none of ours."""
    return line[: line.find(b'"', 9, 72) + 10]
