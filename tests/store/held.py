"""A log on the disk, made of given bytes and held by a process."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from turnwright.store.jsonl import JsonlStore
from turnwright.store.jsonl_log import LOG_NAME, TORN_NAME, JsonlLog

SESSION = "s"


def place(root: Path, data: bytes) -> Path:
    """Put a log there; its file."""
    file = root / SESSION / LOG_NAME
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


@contextmanager
def held(root: Path) -> Generator[JsonlLog]:
    """Hold the session's log."""
    log = JsonlStore(root).open(SESSION)
    try:
        log.hold()
        yield log
    finally:
        log.close()


def set_aside(root: Path) -> bytes:
    """What was set aside of the session's log."""
    file = root / SESSION / TORN_NAME
    return file.read_bytes() if file.exists() else b""
