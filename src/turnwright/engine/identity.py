"""Finding out whose token a session brings."""

from typing import Protocol

from turnwright.protocol.identity import Identity


class Identities(Protocol):
    """Knows the owners of tokens."""

    async def find(self, token: str) -> Identity | None:
        """None when nobody can tell. Raises ConfigError when the token is refused."""
        ...
