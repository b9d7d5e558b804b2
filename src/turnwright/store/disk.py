"""The system calls that a log makes."""

import os
from pathlib import Path


class Disk:
    """The machine's own disk; a test derives one that fails. Every call raises OSError."""

    def open(self, path: Path, flags: int) -> int:
        """Open a file; what is made is private to the user."""
        return os.open(path, flags | os.O_CLOEXEC, 0o600)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Write once; how many bytes were taken."""
        return os.write(fd, data)

    def truncate(self, fd: int, size: int) -> None:
        """Drop what stands behind so many bytes."""
        os.ftruncate(fd, size)

    def sync(self, fd: int) -> None:
        """Return when what was written would survive a power loss."""
        os.fsync(fd)

    @property
    def syncs_plainly(self) -> bool:
        """Whether nothing but the system's `fsync` stands behind `sync`."""
        return type(self).sync is Disk.sync

    def replace(self, source: Path, target: Path) -> None:
        """Put a file in another one's place, at once."""
        source.replace(target)

    def make_folder(self, path: Path) -> None:
        """Make a folder, and those above it."""
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
