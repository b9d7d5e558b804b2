"""Custom agents: which there are, and which one answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import msgspec

from turnwright.engine.agents import agent_files
from turnwright.engine.session import Session
from turnwright.protocol.wire import Wire
from turnwright.server.methods.base import Methods, SessionParams

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table


class ListParams(SessionParams):
    """Whether prompts are wanted, too."""

    include_prompt: bool = False


@methods.session("session.agent.list", ListParams)
async def listing(session: Session, params: ListParams) -> dict[str, Any]:
    """The custom agents that the session can select: the app's, then those in files."""
    await session.agents.load()
    found = session.agents.available
    return {"agents": [agent.describe(with_prompt=params.include_prompt) for agent in found]}


@methods.session("session.agent.getCurrent", SessionParams)
async def current(session: Session, params: SessionParams) -> dict[str, Any]:
    """The custom agent that answers; null for the default one."""
    await session.agents.load()
    agent = session.agents.current
    return {"agent": agent and agent.describe()}


class SelectParams(SessionParams):
    """An agent's name."""

    name: str


@methods.session("session.agent.select", SelectParams)
async def select(session: Session, params: SelectParams) -> dict[str, Any]:
    """Let a custom agent answer from the next call on: its prompt, its tools, its model."""
    await session.agents.load()
    return {"agent": session.agents.select(params.name).describe()}


@methods.session("session.agent.deselect", SessionParams)
async def deselect(session: Session, params: SessionParams) -> dict[str, Any]:
    """Let the default agent answer again."""
    session.agents.deselect()
    return {}


@methods.session("session.agent.reload", SessionParams)
async def reload(session: Session, params: SessionParams) -> dict[str, Any]:
    """Read the agents' files again."""
    await session.agents.reload()
    return {"agents": [agent.describe() for agent in session.agents.available]}


class PromptParams(SessionParams):
    """An agent's id, and other instructions for it."""

    id: str
    prompt: str


@methods.session("session.agent.setPrompt", PromptParams)
async def set_prompt(session: Session, params: PromptParams) -> dict[str, Any]:
    """Give an agent other instructions, until the session is unloaded."""
    await session.agents.load()
    session.agents.set_prompt(params.id, params.prompt)
    return {}


class PlacesParams(Wire):
    """Folders of projects; whether the agents of the runtime's user are left out."""

    project_paths: list[str] = msgspec.field(default_factory=list[str])
    exclude_host_agents: bool = False


@methods.runtime("agents.discover", PlacesParams)
async def discover(connection: "Connection", params: PlacesParams) -> dict[str, Any]:
    """The agents in files: the user's, and those of projects."""
    home = None if params.exclude_host_agents else connection.runtime.home
    places = [Path(path) for path in params.project_paths]
    found = await anyio.to_thread.run_sync(agent_files.find, places, home)
    return {"agents": [agent.describe() for agent in found.agents]}


@methods.runtime("agents.getDiscoveryPaths", PlacesParams)
async def discovery_paths(connection: "Connection", params: PlacesParams) -> dict[str, Any]:
    """The folders where agents are looked for, there or not; new files belong in the preferred ones."""
    paths: list[dict[str, Any]] = []
    if not params.exclude_host_agents:
        folder = agent_files.user_folder(connection.runtime.home)
        paths.append({"path": str(folder), "scope": "user", "preferredForCreation": True})
    for project in params.project_paths:
        for index, folder in enumerate(agent_files.project_folders(Path(project))):
            entry = {"path": str(folder), "scope": "project", "preferredForCreation": index == 0}
            paths.append({**entry, "projectPath": project})
    return {"paths": paths}
