"""What has changed in a checkout, by git."""

import os
from pathlib import Path

import anyio.to_thread
import msgspec

from turnwright.engine.changes.git import Git, Output
from turnwright.engine.changes.patch import FILE_LIMIT, bounded, file_diffs, left_out
from turnwright.errors import GitError
from turnwright.protocol.wire import clean
from turnwright.protocol.workspace import ChangeType, FileDiff
from turnwright.tools import diff, text_file

MOST_UNTRACKED = 1000
"""Files that git doesn't know and whose content is told."""

_KINDS: dict[str, ChangeType] = {"A": "added", "D": "deleted", "R": "renamed"}


class Checkout:
    """A git checkout, as seen from a folder in it."""

    def __init__(self, git: Git, root: Path) -> None:
        self._git = Git(root, git.environment)
        self._root = root
        self._folder = git.folder

    async def changes(self, since: str | None, *, ignore_whitespace: bool) -> list[FileDiff]:
        """What the working tree has that a commit, or the index, hasn't. Raises GitError."""
        options = ["--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--submodule=short"]
        if ignore_whitespace:
            options.append("--ignore-all-space")
        base = [since] if since else []
        patch = await self._git.run("diff", *options, *base, "--")
        found = file_diffs(patch.text, complete=patch.complete)
        if not patch.complete:
            names = await self._git.run("diff", *options, "--name-status", "-z", *base, "--")
            told = {change.path for change in found}
            found += [change for change in _named(names) if change.path not in told]
        untracked = await self._git.run("ls-files", "--others", "--exclude-standard", "-z")
        names = [name for name in untracked.text.split("\0") if name]
        found += await anyio.to_thread.run_sync(self._untracked, names)
        return sorted(map(self._as_seen, found), key=lambda change: change.path)

    async def default_branch(self) -> str:
        """The branch that others start from: the remote's, or main or master. Raises GitError."""
        try:
            head = await self._git.run("symbolic-ref", "--short", "refs/remotes/origin/HEAD")
            return head.text.strip()
        except GitError:
            known = await self._git.run(
                "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes"
            )
        branches = known.text.split()
        for name in ("main", "master", "origin/main", "origin/master"):
            if name in branches:
                return name
        raise GitError("this repository has no default branch")

    async def fork_point(self, branch: str) -> str:
        """The commit at which the current branch has left another. Raises GitError."""
        return (await self._git.run("merge-base", branch, "HEAD")).text.strip()

    def _untracked(self, names: list[str]) -> list[FileDiff]:
        return [self._added(name, told=index < MOST_UNTRACKED) for index, name in enumerate(names)]

    def _added(self, name: str, *, told: bool) -> FileDiff:
        nothing = FileDiff(clean(name), "", "added")
        if not told:
            return left_out(nothing)
        place = self._root / name
        try:
            if place.is_symlink():  # a link's content is where it leads, for git
                content = os.fsencode(place.readlink())
            else:
                content = text_file.read_bytes(place, FILE_LIMIT)
        except OSError:
            return left_out(nothing)
        return bounded(FileDiff(nothing.path, new_file(nothing.path, content), "added"))

    def _as_seen(self, change: FileDiff) -> FileDiff:
        """The change with paths as they are from the folder."""
        old = change.old_path and self._from_folder(change.old_path)
        return msgspec.structs.replace(change, path=self._from_folder(change.path), old_path=old)

    def _from_folder(self, path: str) -> str:
        return os.path.relpath(self._root / path, self._folder)


async def checkout(git: Git) -> Checkout:
    """The checkout that git's folder is in. Raises GitError where it is in none."""
    root = (await git.run("rev-parse", "--show-toplevel")).text.rstrip("\n")
    return Checkout(await git.without_filters(), Path(root))


def new_file(path: str, content: bytes) -> str:
    """The diff of a file that wasn't there."""
    if b"\0" in content:
        return f"diff --git a/{path} b/{path}\nBinary files a/dev/null and b/{path} differ"
    return diff.created(f"/{path}", content.decode(errors="replace")).text.strip("\n")


def _named(output: Output) -> list[FileDiff]:
    """The changes in git's list of names, without their diffs."""
    fields = iter(output.text.split("\0"))
    found: list[FileDiff] = []
    for status in fields:
        if not status:
            break
        old = next(fields, "") if status[0] in "RC" else None
        found.append(left_out(FileDiff(clean(next(fields, "")), "", _KINDS.get(status[0], "modified"), old)))
    return found
