"""How long a list of many sessions takes."""

import shutil
import statistics
import time
from pathlib import Path
from typing import NamedTuple

from tests.faults.long_log import LongLog
from turnwright.store.entry import Entry
from turnwright.store.jsonl import LOG_NAME, JsonlStore

LISTED_IN = 0.2
"""Seconds of the processor in which a list of ten thousand sessions is to be there."""

ROUNDS = 3


class Listing(NamedTuple):
    """Seconds of the processor for a list, the middle of a few, and for one without its index.

    `is_same` tells whether all said the same.
    """

    seconds: float
    rebuilding: float
    is_same: bool


def list_of(home: Path, count: int) -> Listing:
    """Make so many sessions, list them a few times, and once more when the index has been deleted."""
    root = home / "session-state"
    data = b"".join(event.encoded + b"\n" for event in LongLog(output=100).events(12))
    for number in range(count):
        folder = root / f"s{number}"
        folder.mkdir(parents=True)
        (folder / LOG_NAME).write_bytes(data)
    _listed(root)
    lists = [_listed(root) for _ in range(ROUNDS)]
    found = lists[0][1]
    shutil.rmtree(home / "turnwright")
    rebuilding, again = _listed(root)
    is_same = len(found) == count and all(each == found for _, each in lists) and found == again
    return Listing(statistics.median(seconds for seconds, _ in lists), rebuilding, is_same)


def _listed(root: Path) -> tuple[float, list[Entry]]:
    """What a list says, and the seconds of the processor that it took."""
    store = JsonlStore(root)
    try:
        started = time.process_time()
        found = store.entries()
        return time.process_time() - started, found
    finally:
        store.close()
