"""Where a session works: the folder, and what git says of it, read from git's own files.

Starting `git` even once takes several times as long, and a session's start has to be cheap.
"""

import re
from pathlib import Path
from typing import Literal, NamedTuple

from turnwright.engine.prompts.instructions import repository_root
from turnwright.protocol.events.session import Context
from turnwright.tools.text_file import open_regular

SYMBOLIC_DEPTH = 5
_URL = re.compile(
    r"[a-z][a-z+]*://(?:[^/@]*@)?(?P<host>\[[^]]*\]|[^/:]+)(?::\d*)?/+(?P<path>.+)", re.IGNORECASE
)
_SCP = re.compile(r"(?:[^/@:]+@)?(?P<host>\[[^]]*\]|[^/:]{2,}):(?!//)/*(?P<path>.+)")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Remote(NamedTuple):
    """A repository on a host; `name` is owner/name, or as many parts as the host has."""

    host: str
    name: str

    @property
    def host_type(self) -> Literal["github", "ado"] | None:
        """The kind of host, of those that the wire has a word for."""
        host = f".{self.host}"
        if host.endswith((".github.com", ".ghe.com")):
            return "github"
        if host.endswith((".dev.azure.com", ".visualstudio.com")):
            return "ado"
        return None


def context_of(cwd: Path) -> Context:
    """Where a session works; of what git's files don't tell, or we can't read, nothing is said."""
    root = repository_root(cwd)
    folder = root and _git_folder(root / ".git")
    if root is None or folder is None:
        return Context(str(cwd))
    common = _common_folder(folder)
    branch, commit = _head(folder, common)
    remote = _origin(_read(common / "config"))
    return Context(
        str(cwd),
        git_root=str(root),
        repository=remote and remote.name,
        host_type=remote and remote.host_type,
        repository_host=remote and remote.host,
        branch=branch,
        head_commit=commit,
    )


def parse_remote(url: str) -> Remote | None:
    """The host and the name in a remote's URL; None for a folder. A user or token in it is left out."""
    found = _URL.fullmatch(url) or _SCP.fullmatch(url)
    if found is None:
        return None
    host = found["host"].lower()
    path = found["path"].rstrip("/").removesuffix(".git")
    if host == "ssh.dev.azure.com":
        path = path.removeprefix("v3/")
    parts = [part for part in path.split("/") if part != "_git"]
    return Remote(host, "/".join(parts)) if parts[0] else None


def _git_folder(entry: Path) -> Path | None:
    """The folder behind a `.git`; in a worktree or a submodule that is a file which names it."""
    if entry.is_dir():
        return entry
    named = _read(entry).removeprefix("gitdir:").strip()
    return entry.parent / named if named else None


def _common_folder(folder: Path) -> Path:
    """The folder that all worktrees of a repository share."""
    named = _read(folder / "commondir").strip()
    return folder / named if named else folder


def _head(folder: Path, common: Path) -> tuple[str | None, str | None]:
    """The branch, None when HEAD is detached, and the commit, None before the first one."""
    head = _read(folder / "HEAD").strip()
    branch = head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else None
    if branch == ".invalid":  # refs are kept in tables, which are git's own business
        return None, None
    for _ in range(SYMBOLIC_DEPTH):
        if not head.startswith("ref: "):
            break
        head = _resolve(head.removeprefix("ref: "), folder, common)
    return branch, head if _COMMIT.fullmatch(head) else None


def _resolve(ref: str, folder: Path, common: Path) -> str:
    for place in (folder, common):
        if found := _read(place / ref).strip():
            return found
    for line in _read(common / "packed-refs").splitlines():
        commit, _, name = line.partition(" ")
        if name == ref:
            return commit
    return ""


def _origin(config: str) -> Remote | None:
    """The remote `origin` of a git configuration."""
    inside = False
    for line in config.splitlines():
        text = line.strip()
        if text.startswith("["):
            section, _, text = text.partition("]")
            inside = section.lower().split() == ["[remote", '"origin"']
        name, assigned, value = text.partition("=")
        if inside and assigned and name.strip().lower() == "url":
            return parse_remote(re.split("[#;]", value, maxsplit=1)[0].strip().strip('"'))
    return None


def _read(file: Path) -> str:
    try:
        with open_regular(file) as opened:
            return opened.read().decode("utf-8", "replace")
    except (OSError, ValueError):  # not there, not ours to read, or no name for a file
        return ""
