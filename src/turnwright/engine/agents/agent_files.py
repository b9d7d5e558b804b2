"""Agents that are written down in files: the user's own in the home, a project's in its checkout."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from turnwright.engine.agents.agent import Agent, Source
from turnwright.engine.front_matter import split
from turnwright.engine.prompts.instructions import repository_root
from turnwright.errors import ConfigError
from turnwright.tools.text_file import open_regular

LARGEST = 64 * 1024
PROJECT_FOLDERS = (".github/agents", ".claude/agents")
SUFFIXES = (".agent.md", ".md")
_NO_AGENTS = ("README.md", ".agent.md")
"""The latter has no name."""


class Found(msgspec.Struct, frozen=True):
    """What was found: of two agents with one name the first; `errors` say of files why they are none."""

    agents: tuple[Agent, ...]
    errors: tuple[str, ...]


class _Header(msgspec.Struct, rename="kebab"):
    name: str | None = None
    description: str | None = None
    tools: list[str] | str | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    skills: list[str] | None = None
    mcp_servers: dict[str, Any] | None = None
    user_invocable: bool = True


def find(places: Iterable[Path], home: Path | None) -> Found:
    """The agents of a user's home, then those of each place."""
    agents: dict[str, Agent] = {}
    errors: list[str] = []
    for folder, source in _folders(places, home):
        for path in _files(folder):
            try:
                agent = _read(path, source)
            except ConfigError as error:
                errors.append(f"{path}: {error}")
            else:
                agents.setdefault(agent.name, agent)
    return Found(tuple(agents.values()), tuple(errors))


def places_of(cwd: Path) -> Iterable[Path]:
    """The places whose agents are for work in a folder: it, and the root of its checkout."""
    return dict.fromkeys((cwd, repository_root(cwd) or cwd))


def user_folder(home: Path) -> Path:
    """Where a user's own agents are."""
    return home / "agents"


def project_folders(place: Path) -> Iterator[Path]:
    """Where a project's agents are looked for; new ones are best written to the first."""
    return (place / name for name in PROJECT_FOLDERS)


def _folders(places: Iterable[Path], home: Path | None) -> Iterator[tuple[Path, Source]]:
    if home is not None:
        yield user_folder(home), "user"
    for place in places:
        for folder in project_folders(place):
            yield folder, "project"


def _files(folder: Path) -> Iterable[Path]:
    try:
        return sorted(
            path for path in folder.iterdir() if path.suffix == ".md" and path.name not in _NO_AGENTS
        )
    except OSError:
        return ()


def _read(path: Path, source: Source) -> Agent:
    """The agent in a file, named as the file is. Raises ConfigError that says why it is none."""
    try:
        with open_regular(path) as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise ConfigError(f"can't be read: {error.strerror}") from None
    if len(data) > LARGEST:
        raise ConfigError(f"is larger than {LARGEST // 1024} KiB")
    header, prompt = split(data.decode("utf-8", "replace"), _Header)
    name = next(path.name.removesuffix(suffix) for suffix in SUFFIXES if path.name.endswith(suffix))
    return Agent(
        name=name,
        display_name=header.name or name,
        description=header.description or "",
        prompt=prompt,
        tools=_tools(header.tools),
        model=header.model or None,
        reasoning_effort=header.reasoning_effort or None,
        skills=None if header.skills is None else tuple(header.skills),
        mcp_servers=header.mcp_servers,
        source=source,
        user_invocable=header.user_invocable,
        path=str(path),
    )


def _tools(listed: list[str] | str | None) -> tuple[str, ...] | None:
    """The tools as a list; a text holds them with commas between, an empty one says nothing."""
    if isinstance(listed, str):
        names = [name.strip() for name in listed.split(",")]
        return tuple(name for name in names if name) or None
    return None if listed is None else tuple(listed)
