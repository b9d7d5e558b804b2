"""A log is found after a power loss only if the names of its folders are on the disk too."""

import os
from pathlib import Path

from turnwright.store.disk import Disk
from turnwright.store.jsonl import JsonlStore


class Counting(Disk):
    """A disk that knows the names of what was synced."""

    def __init__(self) -> None:
        self.synced: list[str] = []
        self._names: dict[int, str] = {}

    def open(self, path: Path, flags: int) -> int:
        fd = super().open(path, flags)
        self._names[fd] = path.name
        return fd

    def sync(self, fd: int) -> None:
        self.synced.append(self._names[fd])
        super().sync(fd)


def test_the_folders_above_all_sessions_are_synced_with_the_first_log_alone(tmp_path: Path) -> None:
    disk = Counting()
    store = JsonlStore(tmp_path / "home" / "session-state", disk)
    for session_id in ("first", "second"):
        log = store.create(session_id)
        log.begin_naming()()
        log.begin_naming()()
        log.close()
    assert disk.synced == ["first", "session-state", "home", tmp_path.name, "second", "session-state"]


def test_a_sync_brings_a_name_to_the_disk_that_nobody_brought_there_before(tmp_path: Path) -> None:
    disk = Counting()
    store = JsonlStore(tmp_path / "home" / "session-state", disk)
    log = store.create("s")
    log.hold()
    log.append(b"{}")
    log.begin_sync()()
    log.begin_sync()()
    log.close()
    folders = ["s", "session-state", "home", tmp_path.name]
    assert disk.synced == ["events.jsonl", *folders, "events.jsonl"]


def test_a_home_that_was_made_anew_is_named_anew(tmp_path: Path) -> None:
    disk = Counting()
    home = tmp_path / "home"
    store = JsonlStore(home / "session-state", disk)
    store.create("first").begin_naming()()
    os.rename(home, tmp_path / "elsewhere")  # noqa: PTH104  nothing is deleted, so no inode is used again
    disk.synced.clear()
    store.create("second").begin_naming()()
    assert disk.synced == ["second", "session-state", "home", tmp_path.name]


def test_a_sync_that_waits_does_not_do_again_what_was_done_meanwhile(tmp_path: Path) -> None:
    disk = Counting()
    log = JsonlStore(tmp_path / "home" / "session-state", disk).create("s")
    log.hold()
    log.append(b"{}")
    naming, sync = log.begin_naming(), log.begin_sync()
    naming()
    sync()
    log.close()
    assert disk.synced == ["s", "session-state", "home", tmp_path.name, "events.jsonl"]
