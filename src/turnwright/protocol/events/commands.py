"""Events of slash commands, and of what the attached clients can do."""

from turnwright.protocol.events.base import Data, event
from turnwright.protocol.wire import Wire


class CommandSpec(Wire):
    """A slash command of the app; `name` is without the slash."""

    name: str
    description: str | None = None


@event("commands.changed", ephemeral=True)
class CommandsChanged(Data):
    """The commands of the attached clients, when a client comes, changes or leaves."""

    commands: list[CommandSpec]


@event("command.execute", ephemeral=True)
class CommandExecute(Data):
    """The client that brought a command shall carry it out; `command` is the whole line."""

    request_id: str
    command: str
    command_name: str
    args: str


@event("command.queued", ephemeral=True)
class CommandQueued(Data):
    """It is a queued command's turn; for clients that registered an interest in this type."""

    request_id: str
    command: str


@event("command.completed", ephemeral=True)
class CommandCompleted(Data):
    """A command was carried out, or is no longer waited for."""

    request_id: str


class UiCapabilities(Wire, omit_defaults=False):
    """What can be shown to people."""

    elicitation: bool


@event("capabilities.changed", ephemeral=True)
class CapabilitiesChanged(Data):
    """What the attached clients can do together, when a client comes, changes or leaves."""

    ui: UiCapabilities
