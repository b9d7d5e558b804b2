"""Running git, without letting the checkout's own configuration run anything else."""

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec

from turnwright.errors import GitError
from turnwright.tools import process

TIMEOUT = 30.0
OUTPUT_LIMIT = 16 * 1024 * 1024
ERROR_LIMIT = 4 * 1024

_ALWAYS = (
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.quotePath=true",
    "-c",
    "diff.noprefix=false",
)
_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


class Output(msgspec.Struct, frozen=True):
    """What git wrote; `complete` is false where it was cut at OUTPUT_LIMIT."""

    text: str
    complete: bool


class Git:
    """Git in one folder."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.environment = {**environment, **_ENVIRONMENT}

    async def without_filters(self) -> "Git":
        """Git that runs none of the filters that the checkout's own configuration names.

        The user's are kept: they are not a matter of who wrote the checkout.
        """
        keys: set[str] = set()
        for scope in ("--local", "--worktree"):
            with suppress(GitError):  # of several worktrees, none of which has a configuration of its own
                listed = await self.run("config", scope, "--includes", "--list", "--name-only", "-z")
                keys.update(listed.text.split("\0"))
        filters = sorted({key.rpartition(".")[0] for key in keys if key.startswith("filter.")})
        settings = [
            (f"{name}.{key}", value)
            for name in filters
            for key, value in (("clean", ""), ("process", ""), ("required", "false"))
        ]
        return Git(self.folder, {**self.environment, **_configured(settings, self.environment)})

    async def run(self, *arguments: str) -> Output:
        """Run git, for TIMEOUT seconds at most. Raises GitError, with git's own words."""
        output, errors = bytearray(), bytearray()
        status: int | None = None
        with anyio.move_on_after(TIMEOUT) as scope:

            def take(data: bytes) -> None:
                output.extend(data)
                if len(output) > OUTPUT_LIMIT:
                    scope.cancel()

            def take_error(data: bytes) -> None:
                errors.extend(data[: ERROR_LIMIT - len(errors)])

            try:
                status = await process.run(
                    [self._program(), *_ALWAYS, *arguments],
                    cwd=self.folder,
                    env=self.environment,
                    output=take,
                    errors=take_error,
                )
            except OSError as error:
                raise GitError(f"git can't be started in {self.folder}: {error.strerror}") from error
        text = output.decode(errors="replace")
        if status is None and len(output) <= OUTPUT_LIMIT:
            raise GitError(f"git {arguments[0]} took longer than {TIMEOUT:.0f} seconds")
        if status:
            words = errors.decode(errors="replace").strip().removeprefix("fatal: ")
            raise GitError(words.partition("\n")[0] or f"git {arguments[0]} failed with status {status}")
        return Output(text, complete=status is not None)

    def _program(self) -> str:
        found = shutil.which("git", path=self.environment.get("PATH"))
        if found is None:
            raise GitError("git is not installed, or not on the PATH")
        return found


def _configured(settings: Sequence[tuple[str, str]], environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that add to git's configuration, beyond what others have added; a name may hold anything."""
    first = environment.get("GIT_CONFIG_COUNT", "")
    start = int(first) if first.isdecimal() else 0
    added = {"GIT_CONFIG_COUNT": str(start + len(settings))} if settings else {}
    for number, (key, value) in enumerate(settings, start):
        added |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return added
