"""Where a path that a model wrote really leads."""

import os
from pathlib import Path

import msgspec

from turnwright.errors import InvalidParams

PATH_SCHEMA = {"type": "string", "description": "Absolute, or relative to the working directory."}


class Location(msgspec.Struct, frozen=True):
    """A path as spelled (absolute, for texts) and as it is on disk, every link followed.

    `escapes` is true when the spelling is inside the working directory and the file is not.
    """

    shown: str
    real: Path
    escapes: bool

    @property
    def missing(self) -> str:
        """What a tool says when there is nothing."""
        return f"Path {self.shown} does not exist. Please provide a valid path."

    @property
    def refusal(self) -> str:
        """What a tool says when the path escapes."""
        return (
            f"{self.shown} leads through a link to {self.real}, outside of the working directory. "
            "That is not allowed."
        )

    def explain(self, action: str, error: OSError) -> str:
        """What a tool says when `action` (a verb) failed."""
        return f"Could not {action} {self.shown}: {error.strerror or error}"


def locate(cwd: Path, text: str) -> Location:
    """Resolve `text`, relative to `cwd`, without asking that it exists. Raises InvalidParams."""
    shown = os.path.normpath(cwd / text)
    real = resolve(cwd, text)
    return Location(shown, real, escapes=Path(shown).is_relative_to(cwd) and not inside(cwd, real))


def resolve(cwd: Path, text: str) -> Path:
    """The real path of `text`, relative to `cwd`; missing parts are kept. Raises InvalidParams."""
    if not text:
        raise InvalidParams("path: must not be empty")
    try:
        return Path(os.path.realpath(cwd / text))
    except ValueError as error:  # a NUL, or half of a surrogate pair
        raise InvalidParams(f"path: {text!r} can't be the name of a file") from error
    except OSError as error:
        raise InvalidParams(f"path: {text!r}: {error.strerror}") from error


def inside(root: Path, path: Path) -> bool:
    """Tell whether `path` is `root` or below it once the links of both are followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))
