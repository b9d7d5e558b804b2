"""Text for people and programs: results on stdout, everything else on stderr."""

import re
import sys
from contextlib import suppress
from io import TextIOWrapper
from os import devnull

from turnwright.errors import OutputError

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that move the cursor, colour, or turn the direction of writing: what a model or a file says must
not be able to overwrite what we say."""


def prepare() -> None:
    """Let stdout and stderr take any text; what is written to one that is closed is gone."""
    # A process that was started with a closed stream has None in its place.
    sys.stdout = sys.stdout or open(devnull, "w")  # noqa: PTH123, SIM115
    sys.stderr = sys.stderr or open(devnull, "w")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def show(text: str) -> None:
    """Print a result. Raises BrokenPipeError when nobody reads it any more, OutputError."""
    try:
        sys.stdout.write(f"{plain(text) if sys.stdout.isatty() else text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"can't write to stdout: {error.strerror}") from error


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
