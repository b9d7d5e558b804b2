"""What a session's tools have changed since its start, by what was kept of the files."""

import os
from pathlib import Path

from turnwright.engine.changes.git_changes import new_file
from turnwright.engine.changes.patch import FILE_LIMIT, bounded, left_out
from turnwright.engine.rewind.kept_files import KeptFiles
from turnwright.engine.rewind.restoring import FileRestore
from turnwright.protocol.wire import clean
from turnwright.protocol.workspace import ChangeType, FileDiff
from turnwright.tools import diff, text_file


def session_changes(files: list[FileRestore], kept: KeptFiles, folder: Path) -> list[FileDiff]:
    """What files are, compared with what they were; paths are as from the folder."""
    return [_change(file, kept, folder) for file in files if not file.is_done]


def _change(file: FileRestore, kept: KeptFiles, folder: Path) -> FileDiff:
    path = clean(os.path.relpath(file.path, folder))
    kind: ChangeType = "added" if file.change == "created" else file.change
    nothing = FileDiff(path, "", kind)
    if file.skip == "skipped-capture" or file.now.kind == "other":
        return left_out(nothing)
    try:
        before = text_file.read_bytes(kept.folder / file.was, FILE_LIMIT) if file.was else None
        after = text_file.read_bytes(file.path, FILE_LIMIT) if file.now.kind == "file" else b""
    except OSError:
        return left_out(nothing)
    if before is None:
        return bounded(FileDiff(path, new_file(path, after), kind))
    if b"\0" in before + after:
        text = f"diff --git a/{path} b/{path}\nBinary files a/{path} and b/{path} differ"
    else:
        old, new = before.decode(errors="replace"), after.decode(errors="replace")
        text = diff.updated(f"/{path}", old, new).text.strip("\n")
    return bounded(FileDiff(path, text, kind))
