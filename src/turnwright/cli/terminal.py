"""The person at the terminal: questions on stderr, answers from the keyboard, even when stdin is a pipe."""

import os
import sys
import termios
from collections.abc import Generator
from contextlib import contextmanager

import anyio

from turnwright.cli.output import tell

LONGEST_LINE = 4096


class Terminal:
    """Asks one question at a time; the others wait."""

    def __init__(self, keyboard: int) -> None:
        self._keyboard = keyboard
        self._turn = anyio.Lock()

    async def ask(self, question: str, prompt: str) -> str | None:
        """The answer, without the space around it; None when there is no more input. May be cancelled."""
        async with self._turn:
            tell(question)
            # What was typed before the question was seen is no answer to it.
            termios.tcflush(self._keyboard, termios.TCIFLUSH)
            sys.stderr.write(prompt)
            sys.stderr.flush()
            await anyio.wait_readable(self._keyboard)
            line = os.read(self._keyboard, LONGEST_LINE)
            return line.decode("utf-8", "replace").strip() if line else None


@contextmanager
def terminal() -> Generator[Terminal | None]:
    """The terminal, or None where there is nobody to ask: questions are shown on stderr or not at all."""
    if not sys.stderr.isatty():
        yield None
    elif sys.stdin.isatty():
        yield Terminal(sys.stdin.fileno())
    else:
        try:
            keyboard = os.open("/dev/tty", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            yield None
            return
        try:
            yield Terminal(keyboard)
        finally:
            os.close(keyboard)
