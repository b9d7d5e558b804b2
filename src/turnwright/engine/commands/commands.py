"""Slash commands: those of the attached clients, which carry them out themselves, and the runtime's own."""

from typing import TYPE_CHECKING, Any

from turnwright.engine.commands.builtin_commands import BUILTIN
from turnwright.engine.inbox import QueuedCommand
from turnwright.engine.questions.broadcast import ask_clients
from turnwright.errors import TurnwrightError
from turnwright.protocol import wire
from turnwright.protocol.events.commands import CommandCompleted, CommandExecute, CommandQueued
from turnwright.protocol.events.session import Info, PendingMessagesModified, Warned
from turnwright.protocol.options import SessionOptions
from turnwright.protocol.wire import Wire

if TYPE_CHECKING:
    from turnwright.engine.session import Session

QUEUED = "command.queued"


class Outcome(Wire):
    """How a client's command ended; without `error` it succeeded."""

    error: str | None = None


class QueuedAnswer(Wire):
    """What a client did with a queued command; it may keep the rest of the queue from being begun."""

    handled: bool
    stop_processing_queue: bool = False


class CommandFailed(TurnwrightError):
    """A command isn't known, or whoever carries it out says why it failed."""


class Commands:
    """The session's slash commands; a client's own goes before the runtime's of the same name."""

    def __init__(self, s: "Session") -> None:
        self._s = s

    def listing(self, *, builtin: bool, clients: bool) -> list[dict[str, Any]]:
        """The commands on offer in the wire's shape, the runtime's own first."""
        own = self._s.clients.commands() if clients else []
        taken = {spec.name for spec in own}
        found = [command.describe(name) for name, command in BUILTIN.items() if builtin and name not in taken]
        return found + [
            {
                "name": spec.name,
                "description": spec.description or "",
                "kind": "client",
                "allowDuringAgentExecution": True,
            }
            for spec in own
        ]

    def enqueue(self, text: str) -> None:
        """Let a command wait for its turn behind all that was sent before."""
        self._s.inbox.put(QueuedCommand(wire.new_id(), text))
        self._s.emit(PendingMessagesModified())

    async def invoke(self, name: str, args: str) -> str | None:
        """Carry a command out; what it has to say, if anything. Raises CommandFailed."""
        if any(spec.name == name for spec in self._s.clients.commands()):
            await self._execute(name, args)
            return None
        command = BUILTIN.get(name.lower())
        if command is None:
            raise CommandFailed(f"Unknown command: /{name}")
        return await command.run(self._s, args)

    async def run_queued(self, command: QueuedCommand) -> None:
        """A queued command's turn: ask the clients, if one registered an interest, or carry it out."""
        s = self._s
        s.emit(PendingMessagesModified())
        if QUEUED in s.interests.values():
            await self._ask_about(command.text)
            return
        name, _, args = command.text.removeprefix("/").partition(" ")
        try:
            said = await self.invoke(name, args.strip())
        except TurnwrightError as error:
            s.emit(Warned("command", str(error)))
        else:
            if said:
                s.emit(Info("command", said))

    async def _execute(self, name: str, args: str) -> None:
        request_id = wire.new_id()

        def able(options: SessionOptions) -> bool:
            return any(spec.name == name for spec in options.commands or ())

        requested = CommandExecute(request_id, f"/{name} {args}".rstrip(), name, args)
        outcome: Outcome | None = await ask_clients(
            self._s, request_id, requested, lambda _: CommandCompleted(request_id), able
        )
        if outcome is None:
            raise CommandFailed(f"The client of /{name} left before it was done")
        if outcome.error is not None:
            raise CommandFailed(outcome.error)

    async def _ask_about(self, text: str) -> None:
        request_id = wire.new_id()
        answer: QueuedAnswer | None = await ask_clients(
            self._s,
            request_id,
            CommandQueued(request_id, text),
            lambda _: CommandCompleted(request_id),
            lambda _: True,
        )
        if answer is not None and answer.stop_processing_queue:
            self._s.inbox.hold()
