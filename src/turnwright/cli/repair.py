"""`turnwright sessions repair`: a log is mended, and the original kept beside it."""

import shutil
from itertools import count
from pathlib import Path

from turnwright.cli.output import show, tell
from turnwright.errors import StoreError
from turnwright.protocol.counted import counted
from turnwright.store.audit import audit
from turnwright.store.jsonl import LOG_NAME, JsonlLog, JsonlStore
from turnwright.store.repair import obstacle, repair

FAILED = 1
ORIGINAL = f"{LOG_NAME}.original"


def main(store: JsonlStore, session_id: str) -> int:
    """Mend one session's log; 1 when something is left that can't be mended.

    Raises SessionNotFound, SessionInUse while a process writes it, or StoreError; then nothing has changed.
    """
    log = store.open(session_id)
    try:
        log.hold()
        return _mend(log, store.folder(session_id) / LOG_NAME, session_id)
    finally:
        log.close()


def _mend(log: JsonlLog, path: Path, session_id: str) -> int:
    repaired = repair(_lines(path))
    if (reason := obstacle(repaired.lines)) is not None:
        tell(f"turnwright: session {session_id} can't be mended: {reason}. Its log is as it was.")
        tell(f"To remove it: turnwright sessions delete {session_id}")
        return FAILED
    altered = log.verify()
    if altered is not None:
        log.rewrite(
            line.removesuffix(b"\n") for line in _lines(path)
        )  # the sums of what it is now are those that hold
        show(f"{path}: what was changed before byte {altered.end} is accepted: nobody knows what stood there")
    if not repaired.changes:
        show(f"{path}: there is nothing to mend")
    else:
        original = _keep(path)
        if repaired.aside:
            log.set_aside(repaired.aside)
        log.rewrite(repaired.lines)
        for change in repaired.changes:
            show(f"  line {change.line}: {change.text}")
        show(f"{path}: {counted(len(repaired.changes), 'repair')}; the log as it was: {original.name}")
    left = [finding for finding in audit(line + b"\n" for line in repaired.lines).findings if finding.broken]
    for finding in left:
        tell(f"  line {finding.line}: {finding.rule}: {finding.text}: it can't be mended")
    return FAILED if left else 0


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise StoreError(f"can't read {path}: {error.strerror}") from error


def _keep(path: Path) -> Path:
    """Copy a log to a name beside it that nothing has yet."""
    names = (ORIGINAL if number == 1 else f"{ORIGINAL}.{number}" for number in count(1))
    original = next(kept for name in names if not (kept := path.with_name(name)).exists())
    try:
        shutil.copy2(path, original)
    except OSError as error:
        raise StoreError(f"can't keep the log as it was in {original}: {error.strerror}") from error
    return original
