"""What a process leaves in the folders of the sessions that it holds."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

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
    ours = holder.this_process()
    parent = {"pid": os.getppid(), "started": holder.start_of(os.getppid())}
    told = {
        "killed": replace(ours, pid=99_999_999),
        "of our pid": replace(ours, started=1),
        "lives": replace(ours, **parent),
        "elsewhere": replace(ours, host="container"),
        "long ago": replace(ours, host="container"),
    }
    for name, found in told.items():
        holder.write(folder / f"{name}.json", found)
        (folder / f"{name}.lock").touch()
    os.utime(folder / "long ago.json", (1, 1))
    marks = OwnMarks(folder)
    marks.leave(sessions[0])
    marks.remove(sessions[0])
    marks.close()
    assert {path.stem for path in folder.iterdir()} == {"lives", "elsewhere"}


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSPC])
def test_where_a_link_is_refused_files_are_written_and_none_stay(
    tmp_path: Path, sessions: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def refuse(source: Path, place: Path) -> None:
        raise OSError(error, os.strerror(error))

    marks = OwnMarks(tmp_path / "holders")
    with monkeypatch.context() as patched:
        patched.setattr(os, "link", refuse)
        marks.leave(sessions[0])
    assert left(sessions[0]) == expected(1)
    marks.leave(sessions[1])
    assert left(sessions[1]) == expected(1 if error == errno.EPERM else 2)
    for session in sessions:
        marks.remove(session)
    marks.close()
    assert list((tmp_path / "holders").iterdir()) == []
