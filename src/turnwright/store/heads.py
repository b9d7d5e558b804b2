"""The first and the last bytes of a log's line, which tell what the event is without decoding it."""

TYPE, DATA = b'{"type":"', b'","data":{'
assert (len(TYPE), len(DATA)) == (9, 10), "as they stand in head_of, which is called for every line"

BEFORE_ID, AFTER_ID, END = b'},"id":"', b'","parentId":"', b'"}\n'
BEFORE_ID_AT, ID_AT, ID_TO = -136, -128, -92
"""Where the id of a line of ours stands, with its newline. A sub-agent's events have more behind it."""


def head(name: str) -> bytes:
    """How our lines of a type begin."""
    return TYPE + name.encode() + DATA


def head_of(line: bytes) -> bytes:
    """How a line begins, as far as `head` gives it; something else where the line is none of ours."""
    return line[: line.find(b'"', 9, 72) + 10]
