"""What a process leaves in the folders of the sessions that it holds."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnwright.store import holder
from turnwright.store.own_marks import OwnMarks


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    folders = tmp_path / "a", tmp_path / "b"
    for folder in folders:
        folder.mkdir()
    yield folders
    assert list(folders[0].iterdir()) == list(folders[1].iterdir()) == []


def left(session: Path) -> dict[str, tuple[bytes, int]]:
    """The files in a session's folder: what is in them, and how many names they have."""
    return {path.name: (path.read_bytes(), path.stat().st_nlink) for path in session.iterdir()}


def expected(names: int) -> dict[str, tuple[bytes, int]]:
    pid = os.getpid()
    return {
        f"holder.{pid}.json": (holder.encode(holder.this_process()), names),
        f"inuse.{pid}.lock": (b"%d" % pid, names),
    }


def test_all_sessions_share_two_files(tmp_path: Path, sessions: tuple[Path, Path]) -> None:
    marks = OwnMarks(tmp_path / "holders")
    for session in sessions:
        marks.leave(session)
    assert left(sessions[0]) == left(sessions[1]) == expected(3)
    marks.close()
    assert list((tmp_path / "holders").iterdir()) == []
    marks.remove(sessions[0])
    marks.leave(sessions[0])
    assert left(sessions[0]) == expected(2)
    for session in sessions:
        marks.remove(session)


def test_what_an_earlier_process_of_this_pid_left_is_replaced(
    tmp_path: Path, sessions: tuple[Path, Path]
) -> None:
    marks = OwnMarks(tmp_path / "holders")
    for name in expected(1):
        (sessions[0] / name).write_bytes(b"old")
    marks.leave(sessions[0])
    assert left(sessions[0]) == expected(2)
    marks.remove(sessions[0])


def test_where_nothing_can_be_linked_files_are_written(tmp_path: Path, sessions: tuple[Path, Path]) -> None:
    (tmp_path / "holders").write_bytes(b"in the way")
    for marks in (OwnMarks(), OwnMarks(tmp_path / "holders")):
        marks.leave(sessions[0])
        assert left(sessions[0]) == expected(1)
        marks.remove(sessions[0])


def test_an_original_that_somebody_removed_is_made_again(tmp_path: Path, sessions: tuple[Path, Path]) -> None:
    marks = OwnMarks(tmp_path / "holders")
    marks.leave(sessions[0])
    for original in (tmp_path / "holders").iterdir():
        original.unlink()
    marks.leave(sessions[1])
    assert left(sessions[1]) == expected(1)
    marks.remove(sessions[1])
    marks.leave(sessions[1])
    assert left(sessions[1]) == expected(2)
    for session in sessions:
        marks.remove(session)


def test_what_killed_processes_left_is_removed_and_nothing_else(
    tmp_path: Path, sessions: tuple[Path, Path]
) -> None:
    folder = tmp_path / "holders"
    folder.mkdir()
    names = {f"{os.getppid()}.x.json", "notes", "99999999.x.json"}
    for name in names:
        (folder / name).write_bytes(b"")
    marks = OwnMarks(folder)
    marks.leave(sessions[0])
    marks.remove(sessions[0])
    marks.close()
    assert {path.name for path in folder.iterdir()} == names - {"99999999.x.json"}
