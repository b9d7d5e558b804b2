"""A session's agents: those that the app defines and those in files, and the one that answers."""

from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread
import msgspec

from turnwright.engine.agents import agent_files
from turnwright.engine.agents.agent import Agent, of_app
from turnwright.engine.agents.agent_files import Found
from turnwright.errors import ConfigError, InvalidParams, ProviderError
from turnwright.protocol.events.agents import CustomAgentsUpdated, SubagentDeselected, SubagentSelected
from turnwright.protocol.events.session import Warned

if TYPE_CHECKING:
    from turnwright.engine.session import Session

NONE = Found((), ())


class Agents:
    """Which agent answers is in the log; what it is, the app and the files say anew with each resume.

    An agent's prompt and tools hold while it is selected, and so does the model that it names, unless
    somebody chooses another one.
    """

    def __init__(self, s: "Session", home: Path) -> None:
        self._s = s
        self._home = home
        self._files: tuple[Path, Found] | None = None
        self._prompts: dict[str, str] = {}
        self._asked_for: str | None = None

    @property
    def available(self) -> list[Agent]:
        """Every agent, the app's own first; of two with one name the first."""
        found: dict[str, Agent] = {}
        for agent in (*map(of_app, self._s.options.custom_agents or ()), *self._found().agents):
            found.setdefault(agent.name, self._told(agent))
        return list(found.values())

    @property
    def current(self) -> Agent | None:
        """The agent that answers; None for the default one, also while the selected one isn't defined."""
        selected = self._s.journal.state.agent
        return self._defined(selected.name) if selected else None

    def find(self, name: str, *, field: str = "name") -> Agent:
        """The agent of that name. Raises InvalidParams that names `field` and the agents that there are."""
        agent = self._defined(name)
        if agent is None:
            known = ", ".join(agent.name for agent in self.available) or "none"
            raise InvalidParams(f"{field}: there is no agent {name!r}; there are: {known}")
        return agent

    def select(self, name: str, *, field: str = "name") -> Agent:
        """Let an agent answer from the next call on. Raises InvalidParams that names `field`."""
        agent = self.find(name, field=field)
        if not agent.user_invocable:
            raise InvalidParams(f"{field}: agent {name!r} is for other agents alone")
        selected = self._s.journal.state.agent
        if selected is None or selected.name != agent.name:
            self._give_model_back()
            self._s.emit(
                SubagentSelected(
                    agent.name,
                    agent.display_name,
                    None if agent.tools is None else list(agent.tools),
                    agent.model,
                    agent.reasoning_effort,
                )
            )
            self._asked_for = None
            if agent.model:
                self._s.choice.wanted = agent.model
                self._s.options.reasoning_effort = agent.reasoning_effort
        return agent

    def deselect(self) -> None:
        """Let the default agent answer again, with the model that was chosen before."""
        if self._s.journal.state.agent is not None:
            self._give_model_back()
            self._s.emit(SubagentDeselected())

    def set_prompt(self, name: str, prompt: str) -> None:
        """Give an agent other instructions, until the session is unloaded. Raises InvalidParams."""
        self._prompts[self.find(name, field="id").name] = prompt

    async def load(self) -> None:
        """Read the files, unless they were."""
        if self._files is None or self._files[0] != self._s.cwd:
            await self._read()

    async def reload(self) -> None:
        """Read the files again and say what there is now."""
        await self._read()
        self.announce()

    def announce(self) -> None:
        """Say which agents there are, and what is wrong with files and with the selection."""
        selected, warnings = self._s.journal.state.agent, list[str]()
        if selected is not None and self.current is None:
            warnings.append(f"The agent {selected.name} is not defined now: the default agent answers.")
        agents = [agent.announce() for agent in self.available]
        self._s.emit(CustomAgentsUpdated(agents, warnings, list(self._found().errors)))

    async def check_model(self) -> None:
        """Go back to the model before, when the endpoint lists some and the agent's isn't among them."""
        agent = self.current
        if agent is None or not agent.model or agent.model == self._asked_for:
            return
        self._asked_for = agent.model
        if agent.model != self._s.choice.wanted:
            return
        try:
            listed = {info.id for info in await self._s.choice.listed()}
        except (ConfigError, ProviderError):
            return  # the call itself says what is wrong
        if listed and agent.model not in listed:
            self._give_model_back()
            text = f"The model {agent.model} of the agent {agent.name} isn't offered: another one answers."
            self._s.emit(Warned("agent_model", text))

    def _give_model_back(self) -> None:
        selected = self._s.journal.state.agent
        if selected is not None and selected.model and selected.model == self._s.choice.wanted:
            self._s.choice.wanted = selected.own_model
            self._s.options.reasoning_effort = selected.own_effort

    def _defined(self, name: str) -> Agent | None:
        for spec in self._s.options.custom_agents or ():
            if spec.name == name:
                return self._told(of_app(spec))
        return next((self._told(agent) for agent in self._found().agents if agent.name == name), None)

    def _told(self, agent: Agent) -> Agent:
        prompt = self._prompts.get(agent.name)
        return agent if prompt is None else msgspec.structs.replace(agent, prompt=prompt)

    def _found(self) -> Found:
        if self._s.options.enable_config_discovery is False:
            return NONE
        if self._files is None or self._files[0] != self._s.cwd:
            cwd = self._s.cwd
            self._files = cwd, agent_files.find(agent_files.places_of(cwd), self._home)
        return self._files[1]

    async def _read(self) -> None:
        cwd = self._s.cwd
        places = agent_files.places_of(cwd)
        self._files = cwd, await anyio.to_thread.run_sync(agent_files.find, places, self._home)
