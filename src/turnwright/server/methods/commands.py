"""Slash commands: list them, carry them out, queue them, and answer for the client's own."""

from typing import Any

from turnwright.engine.commands.commands import Outcome, QueuedAnswer
from turnwright.engine.session import Session
from turnwright.errors import TurnwrightError
from turnwright.server.methods.base import Methods, SessionParams

methods = Methods()
METHODS = methods.table


class ListParams(SessionParams):
    """Which kinds of commands."""

    include_builtins: bool = True
    include_client_commands: bool = True


@methods.session("session.commands.list", ListParams)
async def listing(session: Session, params: ListParams) -> dict[str, Any]:
    """The commands on offer."""
    found = session.commands.listing(builtin=params.include_builtins, clients=params.include_client_commands)
    return {"commands": found}


class InvokeParams(SessionParams):
    """A command's name, with or without the slash, and what stands after it."""

    name: str
    input: str = ""


@methods.session("session.commands.invoke", InvokeParams)
async def invoke(session: Session, params: InvokeParams) -> dict[str, str]:
    """Carry a command out and give what it has to say."""
    said = await session.commands.invoke(params.name.lstrip("/"), params.input.strip())
    return {"kind": "completed"} if said is None else {"kind": "text", "text": said}


class ExecuteParams(SessionParams):
    """A command's name without the slash, and its arguments as one text."""

    command_name: str
    args: str = ""


@methods.session("session.commands.execute", ExecuteParams)
async def execute(session: Session, params: ExecuteParams) -> dict[str, str]:
    """Carry a command out; `error` says why it failed."""
    try:
        await session.commands.invoke(params.command_name, params.args)
    except TurnwrightError as error:
        return {"error": str(error)}
    return {}


class EnqueueParams(SessionParams):
    """A command line with its slash."""

    command: str


@methods.session("session.commands.enqueue", EnqueueParams)
async def enqueue(session: Session, params: EnqueueParams) -> dict[str, bool]:
    """Let a command wait for its turn behind what was sent before."""
    session.commands.enqueue(params.command)
    return {"queued": True}


class PendingParams(SessionParams):
    """What a client's command came to."""

    request_id: str
    error: str | None = None


@methods.session("session.commands.handlePendingCommand", PendingParams)
async def handle_pending(session: Session, params: PendingParams) -> dict[str, bool]:
    """Settle a command that a client carried out. Always a success: several clients may have done so."""
    session.questions.answer(params.request_id, Outcome(params.error))
    return {"success": True}


class QueuedParams(SessionParams):
    """What a client did with a queued command."""

    request_id: str
    result: QueuedAnswer


@methods.session("session.commands.respondToQueuedCommand", QueuedParams)
async def respond_to_queued(session: Session, params: QueuedParams) -> dict[str, bool]:
    """Settle a queued command; false when nobody waits for that any more."""
    return {"success": session.questions.answer(params.request_id, params.result)}
