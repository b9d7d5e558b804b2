"""Events of custom agents: which are on offer, and which one answers."""

from typing import Any

from turnwright.protocol.events.base import Data, event


@event("session.custom_agents_updated", ephemeral=True)
class CustomAgentsUpdated(Data):
    """The custom agents on offer; what is wrong with a file is an error, what is left out a warning."""

    agents: list[Any]
    warnings: list[str]
    errors: list[str]


@event("subagent.selected")
class SubagentSelected(Data):
    """A custom agent answers from here on; without `tools` it may use all that are on offer.

    `model` and `reasoning_effort` are what it names; that model answers while nobody chooses another.
    """

    agent_name: str
    agent_display_name: str
    tools: list[str] | None
    model: str | None = None
    reasoning_effort: str | None = None


@event("subagent.deselected")
class SubagentDeselected(Data):
    """The default agent answers again."""
