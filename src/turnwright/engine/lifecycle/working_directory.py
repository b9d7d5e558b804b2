"""The folder that a session works in."""

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
    try:
        path = Path(chosen).expanduser()
        found = path.resolve() if path.is_absolute() and path.is_dir() else None
    except (OSError, RuntimeError):  # a name that is too long, or nobody's home
        path, found = Path(chosen), None
    if found is None:
        fault = "there is no such folder" if path.is_absolute() else "an absolute path is needed"
        raise InvalidParams(f"workingDirectory: {fault}: {chosen!r}")
    return found
