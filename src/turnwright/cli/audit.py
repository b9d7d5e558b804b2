"""`turnwright audit`: whether logs can be relied on, and every turn and call in them is accounted for."""

from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from turnwright.cli.archive import Archive
from turnwright.cli.output import show, tell
from turnwright.errors import StoreError
from turnwright.protocol import wire
from turnwright.protocol.counted import counted
from turnwright.server.settings import home
from turnwright.store.audit import Report, audit
from turnwright.store.checksums import Checksums, verify
from turnwright.store.jsonl import LOG_NAME
from turnwright.store.lease import writer_of
from turnwright.store.reading import BLOCK, open_to_read
from turnwright.store.repair import obstacle, repair


class Audited(wire.Wire):
    """One log's report, for programs; `in_use_by` is the process that writes the session meanwhile."""

    path: str
    sound: bool
    report: Report
    in_use_by: str | None = None


def main(given: Namespace) -> int:
    """Audit what the command line names; 1 if something is broken. Raises SessionNotFound or StoreError."""
    sound = True
    found = False
    archive = Archive(home())
    for path in _logs(archive, given.log):
        found = True
        try:
            report, writer = _read(path)
        except StoreError as error:  # the others are audited all the same
            tell(f"turnwright: {error}")
            sound = False
            continue
        sound = sound and report.is_sound
        if given.json:
            show(wire.encode(Audited(str(path), report.is_sound, report, writer)).decode())
        else:
            _show(path, report, writer)
            if not report.is_sound and path.parent.parent == archive.store.root:
                tell(_advice(path, path.parent.name))
    if not found:
        tell("there is no session to audit")
    return 0 if sound else 1


def _logs(archive: Archive, named: str | None) -> Iterator[Path]:
    """The logs that a session's id, or the start of it, or a path stands for; of all sessions if None."""
    if named is None:
        yield from (archive.store.folder(session_id) / LOG_NAME for session_id in archive.store.ids())
    elif (path := Path(named)).is_dir():
        found = [path / LOG_NAME] if (path / LOG_NAME).is_file() else sorted(path.glob(f"*/{LOG_NAME}"))
        if not found:
            raise StoreError(f"there is no {LOG_NAME} in {path}, nor in a folder there")
        yield from found
    elif path.exists():
        yield path
    else:
        yield archive.store.folder(archive.find(named)) / LOG_NAME


def _read(path: Path) -> tuple[Report, str | None]:
    """The report of a log, and who writes it, before or after it was read."""
    writer = writer_of(path.parent)
    report = _audit(path, is_written=writer is not None)
    if writer is None and not report.is_sound and (writer := writer_of(path.parent)) is not None:
        report = _audit(path, is_written=True)
    return report, writer


def _audit(path: Path, *, is_written: bool) -> Report:
    try:
        with open_to_read(path) as file:
            altered = verify(iter(partial(file.read, BLOCK), b""), Checksums(path).noted()).altered
            file.seek(0)
            return audit(file, altered, is_written=is_written)
    except OSError as error:
        raise StoreError(f"can't read {path}: {error.strerror}") from error


def _advice(path: Path, session_id: str) -> str:
    """What can be done about a broken log."""
    try:
        with open_to_read(path) as file:
            reason = obstacle(repair(file).lines)
    except OSError as error:
        raise StoreError(f"can't read {path}: {error.strerror}") from error
    if reason is None:
        return f"To mend it: turnwright sessions repair {session_id}"
    return f"It can't be mended: {reason}. To remove it: turnwright sessions delete {session_id}"


def _show(path: Path, report: Report, writer: str | None) -> None:
    verdict = "sound" if report.is_sound else "broken"
    if writer is not None:
        verdict += f", in use by {writer}"
    counts = ((report.lines, "event"), (report.turns, "turn"), (report.calls, "call"))
    show(f"{path}: {', '.join(counted(number, noun) for number, noun in counts)}: {verdict}")
    for finding in report.findings:
        mark = "" if finding.broken else " (allowed)"
        show(f"  line {finding.line}: {finding.rule}: {finding.text}{mark}")
