"""What `--attach` names, as a message carries it."""

from collections.abc import Sequence
from pathlib import Path

from turnwright.errors import InvalidParams

WILDCARDS = frozenset("*?")


def attachments_of(paths: Sequence[Path]) -> list[dict[str, str]]:
    """The files and directories as the wire's attachments; a relative path starts at this process's folder.

    Raises InvalidParams that names the one which can't be read.
    """
    return [_attachment(path) for path in paths]


def reading(attachments: Sequence[dict[str, str]]) -> list[str]:
    """The rules that allow to read what is attached, and what is in a directory.

    There is none for a name with a wildcard: it would allow others too.
    """
    rules: list[str] = []
    for attached in attachments:
        path = attached["path"]
        if not WILDCARDS.isdisjoint(path):
            continue
        rules.append(f"read({path})")
        if attached["type"] == "directory":
            rules.append(f"read({path}/)")
    return rules


def _attachment(path: Path) -> dict[str, str]:
    try:
        place = path.resolve(strict=True)
        is_directory = place.is_dir()
        if not is_directory and not place.is_file():
            raise InvalidParams(f"--attach: {path} is neither a file nor a directory")
        if is_directory:
            next(place.iterdir(), None)
        else:
            place.open("rb").close()
    except (OSError, RuntimeError) as error:  # Python 3.12 and earlier: RuntimeError for a circle of links
        reason = error.strerror if isinstance(error, OSError) else "Too many levels of symbolic links"
        raise InvalidParams(f"--attach: can't read {path}: {reason}") from error
    return {
        "type": "directory" if is_directory else "file",
        "path": str(place),
        "displayName": place.name or str(place),
    }
