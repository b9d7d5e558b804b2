"""Lets through the bytes of the one pinned file and no others."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from turnwright.errors import ProviderError

PIECE = 1 << 20
"""Bytes that are held in memory at a time."""


def checked(pieces: Iterable[bytes], *, size: int, sha256: str) -> Iterator[bytes]:
    """Pass `pieces` on; raise ProviderError, after the last at latest, if they aren't the pinned file."""
    seen, digest = 0, hashlib.sha256()
    for piece in pieces:
        seen += len(piece)
        if seen > size:
            raise _refused(f"it has more than {size} bytes")
        digest.update(piece)
        yield piece
    if seen != size:
        raise _refused(f"it has {seen} bytes, not {size}")
    if digest.hexdigest() != sha256:
        raise _refused(f"its sha256 is {digest.hexdigest()}, not {sha256}")


def pieces_of(file: Path) -> Iterator[bytes]:
    """The bytes of `file`, a piece at a time."""
    with file.open("rb") as source:
        while piece := source.read(PIECE):
            yield piece


def _refused(reason: str) -> ProviderError:
    return ProviderError(
        f"What came is not the pinned model file and was deleted: {reason}.", kind="connection"
    )
