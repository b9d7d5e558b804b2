"""An agent: instructions, the tools it may use, and the model it wants."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from turnwright.errors import InvalidParams
from turnwright.protocol.options import CustomAgent

Source = Literal["user", "project"]


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """`tools` are names or aliases, None for all; `path` is the file of one that was read from a file."""

    name: str
    display_name: str
    description: str
    prompt: str
    tools: tuple[str, ...] | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    skills: tuple[str, ...] | None = None
    mcp_servers: dict[str, Any] | None = None
    source: Source = "user"
    user_invocable: bool = True
    path: str | None = None

    def describe(self, *, with_prompt: bool = False) -> dict[str, Any]:
        """The agent as methods give it, in the wire's shape; what it doesn't say is left out."""
        found = {
            "name": self.name,
            "displayName": self.display_name,
            "description": self.description,
            "id": self.name,
            "tools": self.tools,
            "model": self.model,
            "skills": self.skills,
            "mcpServers": self.mcp_servers,
            "source": self.source if self.path else None,
            "userInvocable": None if self.user_invocable else False,
            "path": self.path,
            "prompt": self.prompt if with_prompt else None,
        }
        return {name: value for name, value in found.items() if value is not None}

    def announce(self) -> dict[str, Any]:
        """The agent's entry in `session.custom_agents_updated`."""
        found = {
            "name": self.name,
            "displayName": self.display_name,
            "description": self.description,
            "id": self.name,
            "source": self.source,
            "tools": self.tools,
            "userInvocable": self.user_invocable,
        }
        return {**found, "model": self.model} if self.model else found


def of_app(spec: CustomAgent) -> Agent:
    """An agent that an app defines."""
    return Agent(
        name=spec.name,
        display_name=spec.display_name or spec.name,
        description=spec.description or "",
        prompt=spec.prompt,
        tools=None if spec.tools is None else tuple(spec.tools),
        model=spec.model,
        reasoning_effort=spec.reasoning_effort,
        skills=None if spec.skills is None else tuple(spec.skills),
        mcp_servers=spec.mcp_servers,
    )


def check_agents(specs: Sequence[CustomAgent]) -> None:
    """Refuse agents that nobody could select. Raises InvalidParams naming the field."""
    seen: set[str] = set()
    for index, spec in enumerate(specs):
        if not spec.name.strip():
            raise InvalidParams(f"customAgents[{index}].name: must not be empty")
        if spec.name in seen:
            raise InvalidParams(f"customAgents[{index}].name: {spec.name!r} is taken")
        seen.add(spec.name)
