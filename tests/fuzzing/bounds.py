"""How much an input may cost: calls, which are counted, and memory, in proportion to its length."""

import sys
import tracemalloc
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

from tests.fuzzing.target import Broken

CALLS, CALLS_A_BYTE = 50_000, 100
BYTES, BYTES_A_BYTE = 1_000_000, 200


@contextmanager
def bounded(length: int) -> Generator[None]:
    """Bound what is done for an input of so many bytes; raises Broken within it, or at its end."""
    left = CALLS + CALLS_A_BYTE * length

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Broken(f"over {CALLS + CALLS_A_BYTE * length} calls for {length} bytes")

    tracemalloc.start()
    sys.setprofile(count)
    try:
        yield
        sys.setprofile(None)
        _, most = tracemalloc.get_traced_memory()
    finally:
        sys.setprofile(None)
        tracemalloc.stop()
    if most > BYTES + BYTES_A_BYTE * length:
        raise Broken(f"{most} bytes of memory for {length}")
