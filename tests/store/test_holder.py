"""Whom a mark names: pids are given out again, and other machines and containers have their own."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from turnwright.errors import SessionInUse
from turnwright.store import holder
from turnwright.store.holder import Holder, this_process
from turnwright.store.lease import Lease
from turnwright.store.mounts import is_of_one_machine

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="what is told is read from /proc"
)


def parent(**changes: str | int | None) -> Holder:
    """A process that lives, the one that has started us, or one like it."""
    ours = this_process()
    return replace(ours, **{"pid": os.getppid(), "started": holder.start_of(os.getppid()), **changes})


def mark(folder: Path, by: Holder) -> Path:
    """Leave the mark of a holder."""
    holder.write(folder / f"holder.{by.pid}.json", by)
    path = folder / f"inuse.{by.pid}.lock"
    path.write_text(str(by.pid))
    return path


def take(folder: Path, *, can_lock: bool = True) -> list[str]:
    """Take a session's lease; the files that are there while it is held."""
    fd = os.open(folder, os.O_RDONLY if can_lock else os.O_PATH)
    lease = Lease(folder)
    try:
        lease.take(fd)
        lease.tell()
        found = sorted(path.name for path in folder.iterdir())
        lease.give_back(fd)
        return found
    finally:
        os.close(fd)


OURS = [f"holder.{os.getpid()}.json", f"inuse.{os.getpid()}.lock"]


def test_the_holder_tells_of_its_host_and_its_start_beside_the_mark_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    fd = os.open(tmp_path, os.O_RDONLY)
    lease = Lease(tmp_path)
    lease.take(fd)
    lease.tell()
    told = holder.read(tmp_path / OURS[0])
    assert told == this_process()
    assert this_process().fate == "lives"
    assert (tmp_path / OURS[1]).read_text() == str(os.getpid())
    lease.give_back(fd)
    os.close(fd)
    assert list(tmp_path.iterdir()) == []


def test_who_holds_for_a_moment_leaves_a_mark_only_where_there_are_no_locks(tmp_path: Path) -> None:
    for flags, expected in ((os.O_RDONLY, []), (os.O_PATH, OURS)):
        fd = os.open(tmp_path, flags)
        lease = Lease(tmp_path)
        lease.take(fd)
        assert sorted(path.name for path in tmp_path.iterdir()) == expected
        lease.give_back(fd)
        os.close(fd)
        assert list(tmp_path.iterdir()) == []


def test_a_living_holder_is_named(tmp_path: Path) -> None:
    mark(tmp_path, parent())
    with pytest.raises(SessionInUse, match=f"in use by pid {os.getppid()}$"):
        take(tmp_path)


@pytest.mark.parametrize("changes", [{"started": 1}, {"boot": "another"}], ids=["start", "boot"])
@pytest.mark.parametrize("can_lock", [True, False])
def test_a_pid_that_belongs_to_another_process_by_now_holds_nothing(
    tmp_path: Path, changes: dict[str, str | int | None], can_lock: bool
) -> None:
    mark(tmp_path, parent(**changes))
    assert take(tmp_path, can_lock=can_lock) == OURS


@pytest.mark.parametrize("pid", [os.getpid(), os.getppid()])
def test_where_nobody_can_know_the_holder_on_another_host_is_named_and_how_to_go_on(
    tmp_path: Path, pid: int
) -> None:
    path = mark(tmp_path, parent(pid=pid, host="far", boot="another"))
    with pytest.raises(SessionInUse) as refused:
        take(tmp_path, can_lock=False)
    advice = f"if that process has ended, remove {path}"
    assert str(refused.value) == f"session {tmp_path.name} is in use by pid {pid} on host far; {advice}"
    path.unlink()
    assert {*take(tmp_path, can_lock=False)} >= {*OURS}


def test_who_has_the_lock_knows_that_a_containers_process_on_this_machine_is_gone(tmp_path: Path) -> None:
    mark(tmp_path, parent(host="container"))
    with pytest.raises(SessionInUse, match=f"in use by pid {os.getppid()} on host container$"):
        take(tmp_path, can_lock=False)
    assert take(tmp_path) == OURS


def test_who_has_the_lock_on_a_disk_of_this_machine_alone_knows_that_every_other_holder_is_gone(
    tmp_path: Path,
) -> None:
    if not is_of_one_machine(tmp_path):
        pytest.skip("the folder for tests may be shared")
    mark(tmp_path, parent(host="an-earlier-name", boot="another"))
    assert take(tmp_path) == OURS


def test_what_is_told_of_an_earlier_process_is_not_believed_of_a_later_mark(tmp_path: Path) -> None:
    mark(tmp_path, parent(started=1))
    os.utime(tmp_path / f"holder.{os.getppid()}.json", (1, 1))
    with pytest.raises(SessionInUse, match=f"in use by pid {os.getppid()}$"):
        take(tmp_path)


@pytest.mark.parametrize("text", ["", "[" * 100_000, '{"pid": "1"}', "\xff"])
def test_a_holder_that_can_not_be_read_is_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "holder.1.json"
    file.write_text(text, "latin-1")
    assert holder.read(file) is None


@pytest.mark.parametrize(
    ("folder", "alone"),
    [("/", True), ("/net/home", False), ("/net/local", True), ("/net/my home", False), ("/tmp", True)],
)
def test_the_innermost_mount_tells_whether_machines_share_a_folder(
    tmp_path: Path, folder: str, alone: bool
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "1 0 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
        "2 1 0:30 / /net rw - nfs4 server:/ rw\n"
        "3 2 0:31 / /net/local rw - tmpfs tmpfs rw\n"
        "4 2 0:32 / /net/my\\040home rw - cifs //server/home rw\n"
    )
    assert is_of_one_machine(Path(folder), mounts) is alone
    assert not is_of_one_machine(Path(folder), tmp_path / "missing")
