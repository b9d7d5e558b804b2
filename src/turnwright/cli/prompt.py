"""The prompt: from the command line, from stdin, or from both."""

import os
import select
import stat
import sys

from turnwright.cli.output import tell
from turnwright.errors import InvalidParams

PATIENCE = 2.0
"""Seconds after which a silent pipe is mentioned: one that nobody closes would be waited for in vain."""


def read_prompt(given: str) -> str:
    """The whole prompt: `-` is stdin, and what is piped in is appended. Raises InvalidParams when empty."""
    parts = [_all_of_stdin()] if given == "-" else [given, _piped()]
    prompt = "\n\n".join(part for part in map(str.strip, parts) if part)
    if not prompt:
        raise InvalidParams("the prompt is empty")
    return prompt


def _piped() -> str:
    """What was piped or redirected into stdin; nothing from a terminal or a device."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):  # stdin is closed
        return ""
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        ready, _, _ = select.select([sys.stdin], [], [], PATIENCE)
        if not ready:
            tell("Waiting for the end of stdin, which is a pipe; `< /dev/null` means that there is nothing.")
    elif not stat.S_ISREG(mode):
        return ""
    return _all_of_stdin()


def _all_of_stdin() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace")
