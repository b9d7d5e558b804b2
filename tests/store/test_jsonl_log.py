"""A session's file when the disk or the home is not as it should be."""

import errno
import os
import resource
import threading
from pathlib import Path

import pytest

from turnwright.errors import StoreError
from turnwright.store.disk import Disk
from turnwright.store.jsonl import JsonlLog, JsonlStore

LINES = [b'{"n":0}', b'{"n":1}', b'{"n":2}']


def a_log(home: Path, disk: Disk | None = None) -> JsonlLog:
    """The log of a new session, with two lines in it."""
    log = JsonlStore(home / "session-state", disk).create("s")
    for line in LINES[:2]:
        log.append(line)
    return log


def empty(home: Path) -> Path:
    """Remove the session's folder; where it was."""
    folder = home / "session-state" / "s"
    (folder / "events.jsonl").unlink()
    folder.rmdir()
    return folder


def test_a_home_that_was_emptied_gets_the_log_back_for_the_user_alone(tmp_path: Path) -> None:
    log = a_log(tmp_path)
    folder = empty(tmp_path)
    assert log.look() == "Another program removed the session's log. It was written anew."
    log.append(LINES[2])
    log.close()
    file = folder / "events.jsonl"
    assert file.read_bytes().splitlines() == LINES
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_home_that_cannot_be_made_again_is_a_store_error_until_it_can(tmp_path: Path) -> None:
    log = a_log(tmp_path)
    folder = empty(tmp_path)
    folder.write_bytes(b"in the way")
    with pytest.raises(StoreError, match=r"can't write .*: (File exists|Not a directory)"):
        log.look()
    folder.unlink()
    assert log.look() is not None
    log.append(LINES[2])
    log.close()
    assert (folder / "events.jsonl").read_bytes().splitlines() == LINES


class NoMoreFiles(Disk):
    """A disk on which nothing can be opened any more once a test says so."""

    spent = False

    def open(self, path: Path, flags: int) -> int:
        if self.spent:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return super().open(path, flags)


def test_a_log_that_cannot_be_written_anew_stays_the_log(tmp_path: Path) -> None:
    disk = NoMoreFiles()
    log = a_log(tmp_path, disk)
    disk.spent = True
    with pytest.raises(StoreError, match=r"can't rewrite .*: Too many open files"):
        log.rewrite(LINES[:1])
    log.append(LINES[2])
    assert list(log.read()) == LINES
    log.close()


def test_a_line_for_which_there_is_no_room_is_taken_back_and_the_error_says_why(tmp_path: Path) -> None:
    log = a_log(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(StoreError, match=r"can't write .*: File too large"):
            log.append(b"x" * 200)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    log.append(LINES[2])
    assert list(log.read()) == LINES
    log.close()


class SlowSync(Disk):
    """A disk on which the sync of another thread takes until a test lets it; `synced` is what it got."""

    def __init__(self) -> None:
        self.is_asked, self.may_go_on = threading.Event(), threading.Event()
        self.fd = -1
        self.synced: os.stat_result | None = None

    def sync(self, fd: int) -> None:
        if threading.current_thread() is threading.main_thread():
            return
        if self.synced is None:
            self.is_asked.set()
            assert self.may_go_on.wait(10)
            self.fd, self.synced = fd, os.fstat(fd)


@pytest.mark.parametrize("change", ["rewrite", "close"])
def test_a_log_that_is_rewritten_or_closed_while_it_is_synced_keeps_its_descriptor_until_then(
    tmp_path: Path, change: str
) -> None:
    disk = SlowSync()
    log = a_log(tmp_path, disk)
    file = tmp_path / "session-state" / "s" / "events.jsonl"
    before = file.stat()
    thread = threading.Thread(target=log.begin_sync())
    thread.start()
    assert disk.is_asked.wait(10)
    if change == "rewrite":
        log.rewrite(LINES)
    else:
        log.close()
    with (tmp_path / "another file").open("wb"):  # it would get the number of one that was closed
        disk.may_go_on.set()
        thread.join(10)
        assert disk.synced is not None
        assert os.path.samestat(disk.synced, before)
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(disk.fd)
    log.close()


def test_a_log_that_is_closed_cannot_be_synced(tmp_path: Path) -> None:
    log = a_log(tmp_path)
    log.close()
    with pytest.raises(StoreError, match="it is closed"):
        log.begin_sync()()


def test_a_file_that_was_put_in_the_logs_place_is_kept_beside_it(tmp_path: Path) -> None:
    log = a_log(tmp_path)
    file = tmp_path / "session-state" / "s" / "events.jsonl"
    file.rename(tmp_path / "moved")
    file.write_bytes(b"not ours\n")
    log.begin_sync()()
    assert log.look() == (
        "Another program put a file in the place of the session's log. It is now events.jsonl.replaced."
    )
    assert log.look() is None
    log.append(LINES[2])
    log.close()
    assert file.read_bytes().splitlines() == LINES
    assert file.with_name("events.jsonl.replaced").read_bytes() == b"not ours\n"


def test_what_another_program_wrote_into_a_log_stays_on_a_line_of_its_own(tmp_path: Path) -> None:
    log = a_log(tmp_path)
    with (tmp_path / "session-state" / "s" / "events.jsonl").open("ab") as file:
        file.write(b"what is this")
    assert log.look() == "Another program wrote 12 bytes into the session's log. They were left in it."
    assert log.look() is None
    log.append(LINES[2])
    assert list(log.read()) == [*LINES[:2], b"what is this", LINES[2]]
    assert log.verify() is None
    log.close()


def test_a_log_that_was_cut_takes_nothing_until_it_is_held_anew(tmp_path: Path) -> None:
    log = a_log(tmp_path)
    log.hold()
    os.truncate(tmp_path / "session-state" / "s" / "events.jsonl", 8)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"Another program cut the session's log .* to 8 bytes"):
            log.look()
    assert not log.is_cut
    log.release()
    assert (log.hold(), log.is_cut, log.look()) == (True, True, None)
    log.release()
    assert (log.hold(), log.is_cut) == (False, False)
    log.close()


def test_a_log_that_cannot_be_held_for_want_of_descriptors_says_so_and_is_free(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "session-state")
    log = store.create("s")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    os.close(lowest := os.open(tmp_path, os.O_RDONLY))
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        with pytest.raises(StoreError, match=r"can't hold the session's log .*: Too many open files"):
            log.hold()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    another = store.open("s")
    another.hold()
    another.close()
    log.close()
