"""The folder that a session works in."""

import os
from pathlib import Path

from turnwright.errors import InvalidParams
from turnwright.store.state import State


def working_directory(chosen: str | None, state: State) -> Path:
    """The folder that was `chosen`, else the one that the log names, else that of this process; resolved.

    One that a log names may be gone: its session can still be read, and moved. Raises InvalidParams when
    the chosen one is no absolute path of a folder.
    """
    if chosen:
        return existing_folder(chosen)
    return Path(state.context.cwd).resolve() if state.context else Path.cwd()


def existing_folder(chosen: str) -> Path:
    """A folder by its absolute path, links resolved. Raises InvalidParams when it isn't there."""
    path = os.path.expanduser(chosen)  # noqa: PTH111  each session asks, and a Path's methods take thrice as long
    if not os.path.isabs(path):  # noqa: PTH117
        raise InvalidParams(f"workingDirectory: an absolute path is needed: {chosen!r}")
    if not os.path.isdir(path):  # noqa: PTH112
        raise InvalidParams(f"workingDirectory: there is no such folder: {chosen!r}")
    return Path(os.path.realpath(path))
