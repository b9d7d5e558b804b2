"""What is random: a generator of our own, and the ids that it makes."""

import random

_FORM = b"xxxxxxxx-xxxx-4xxx-axxx-xxxxxxxxxxxx "
_FIXED = [(place, bytes([mark])) for place, mark in enumerate(_FORM) if mark != ord("x")]
_AT_ONCE = 64
"""Ids that are made together: one by one, those of a session were a twentieth of all that it cost."""


class Chance(random.Random):
    """A generator that no library seeds. What it gives after `seed` depends on nothing before."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        super().__init__()

    def seed(self, a: int | float | str | bytes | bytearray | None = None, version: int = 2) -> None:
        self._ids = []
        super().seed(a, version)

    def new_id(self) -> str:
        """Return a random UUID (version 4) as text. It is unique; it is no secret. Any thread may ask."""
        try:
            return self._ids.pop()
        except IndexError:
            ids = self._made()
            found = ids.pop()  # before others can see them, and take all
            self._ids = ids
            return found

    def _made(self) -> list[str]:
        """Digits for all ids, in which what is the same in each of them is then put in its place."""
        text = bytearray(self.randbytes(len(_FORM) * _AT_ONCE // 2).hex().encode())
        for place, mark in _FIXED:
            text[place :: len(_FORM)] = mark * _AT_ONCE
        return text.decode().split()
