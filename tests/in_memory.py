"""A folder for what is written and soon removed again."""

import os


def folder_in_memory() -> str | None:
    """A folder that needs no disk, for `tempfile`; None where there is none."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
