"""Text for people and programs: results on stdout, everything else on stderr."""

import re
import sys
from contextlib import suppress

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that move the cursor, colour, or turn the direction of writing: what a model or a file says must
not be able to overwrite what we say."""


def show(text: str) -> None:
    """Print a result."""
    sys.stdout.write(f"{plain(text) if sys.stdout.isatty() else text}\n")
    sys.stdout.flush()


def tell(text: str) -> None:
    """Print what is beside the result; nobody misses it where the terminal is gone."""
    with suppress(OSError):
        sys.stderr.write(f"{plain(text)}\n")
        sys.stderr.flush()


def plain(text: str) -> str:
    """`text` with each character that acts on a terminal, save newline and tab, made visible."""
    return _CONTROL.sub("\ufffd", text)


def brief(text: str, limit: int) -> str:
    """The first line of `text`, cut to `limit` characters; an ellipsis says that there is more."""
    line, _, rest = text.strip().partition("\n")
    line = line.expandtabs(1)
    if len(line) > limit:
        return line[: limit - 1] + "…"
    return f"{line} …" if rest and len(line) + 2 <= limit else line
