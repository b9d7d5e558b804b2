"""How long a list of many sessions takes."""

import time
from pathlib import Path

from tests.faults.long_log import LongLog
from turnwright.store.jsonl import LOG_NAME, JsonlStore

LISTED_IN = 0.2
"""Seconds in which a list of ten thousand sessions is to be there."""


def list_of(home: Path, count: int) -> float:
    """Make so many sessions, list them once, and list them again; the seconds of the processor for that."""
    root = home / "session-state"
    data = b"".join(event.encoded + b"\n" for event in LongLog(output=100).events(12))
    for number in range(count):
        folder = root / f"s{number}"
        folder.mkdir(parents=True)
        (folder / LOG_NAME).write_bytes(data)
    store = JsonlStore(root)
    try:
        assert len(store.entries()) == count
        started = time.process_time()
        assert len(store.entries()) == count
        return time.process_time() - started
    finally:
        store.close()
