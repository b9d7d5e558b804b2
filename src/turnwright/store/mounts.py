"""Whether a folder can be seen by one machine alone."""

from pathlib import Path

_OF_ONE_MACHINE = frozenset(["btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"])
_MOUNTS = Path("/proc/self/mountinfo")


def is_of_one_machine(folder: Path, mounts: Path = _MOUNTS) -> bool:
    """Whether a folder's file system is one that no other machine can have mounted; False when in doubt.

    `mounts` has the form of proc_pid_mountinfo(5).
    """
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
        place = folder.resolve()
    except OSError:
        return False
    kinds: dict[Path, str] = {}
    for line in lines:
        mount, _, source = line.partition(" - ")
        point = mount.split(" ")[4].replace(r"\040", " ")
        kinds[Path(point)] = source.partition(" ")[0]  # of those at one place, the last hides the others
    return next((kinds[at] in _OF_ONE_MACHINE for at in (place, *place.parents) if at in kinds), False)
