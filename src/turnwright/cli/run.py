"""`turnwright -p`: one prompt, one run."""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress

import anyio

from turnwright.cli import pillow
from turnwright.cli.arguments import USAGE
from turnwright.cli.attach import attachments_of
from turnwright.cli.consent import Consent
from turnwright.cli.denials import Denials
from turnwright.cli.interrupt import STATUS_BASE, interrupted
from turnwright.cli.outcome import EMPTY_REPLY, Outcome
from turnwright.cli.output import show, tell
from turnwright.cli.progress import Progress
from turnwright.cli.prompt import read_prompt
from turnwright.cli.task import Task, read_schema, settle
from turnwright.cli.terminal import Terminal, terminal
from turnwright.client.client import Client
from turnwright.client.config import SessionConfig
from turnwright.client.handlers import approve_all
from turnwright.client.session import Session
from turnwright.engine.permissions.rules import Rule
from turnwright.errors import ConfigError, InvalidParams, OutputError, SessionFailed, TurnwrightError
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.session import Warned
from turnwright.server.settings import from_environment

CLIENT_NAME = "turnwright-cli"
FAILED = 1
EMPTY = 3
ABORT_AGAIN_SECONDS = 0.2


def main(given: Namespace) -> int:
    """Run the prompt of the command line; the result is the exit status. Raises TurnwrightError."""
    try:
        for rule in (*given.allow_tool, *given.deny_tool):
            Rule.parse(rule)
        if given.folder is not None and not given.folder.is_dir():
            raise InvalidParams(f"-C: {given.folder} is not a folder")
        schema = read_schema(given.schema) if given.schema is not None else None
        attachments = attachments_of(given.attach)
        prompt = read_prompt(given.prompt)
    except (ConfigError, InvalidParams) as error:
        tell(f"turnwright: {error}")
        return USAGE
    pillow.silence()
    try:
        task = settle(given, prompt, from_environment(os.environ), schema, attachments)
        for warning in task.warnings:
            tell(f"turnwright: {warning}")
        with terminal() as person:
            run = Run(task, given.output_format, person)
            status = anyio.run(run.carry_out)
        if given.record is not None and run.session_id is not None:
            from turnwright.cli import recordings

            recordings.write(run.session_id, from_environment(os.environ), given.record)
        return status
    except TurnwrightError as error:
        if given.output_format == "json":
            show(wire.encode(Outcome().as_object(None, error)).decode())
        raise


class Run:
    """One run with its output: the result on stdout, and on a terminal what happens on stderr."""

    def __init__(self, task: Task, output_format: str, person: Terminal | None) -> None:
        self._task = task
        self._format = output_format
        self._person = person
        self._outcome = Outcome()
        self._hearers: list[Callable[[Event], None]] = [self._outcome.hear, _warn]
        if person is None:
            self._hearers.append(Denials(tell).hear)
        if sys.stderr.isatty():
            self._hearers.append(Progress(tell).hear)
        if output_format == "stream-json":
            self._hearers.append(lambda event: show(event.encoded.decode()))
        self.session_id: str | None = None
        self._signal: int | None = None
        self._unwritable: BrokenPipeError | OutputError | None = None
        self._output_ended = anyio.Event()

    async def carry_out(self) -> int:
        """Do it, in order also when a signal comes; the result is the exit status."""
        started = time.monotonic()
        async with (
            Client(
                provider=self._task.provider, model=self._task.model, durability=self._task.durability
            ) as client,
            await self._open(client) as session,
        ):
            self.session_id = session.id
            failure = await self._converse(session) or self._outcome.emptiness
        if self._unwritable is not None:
            raise self._unwritable
        self._report(session.id, failure, time.monotonic() - started)
        if self._signal is not None:
            return STATUS_BASE + self._signal
        return _status(failure)

    async def _open(self, client: Client) -> Session:
        task = self._task
        options = SessionConfig(
            client_name=CLIENT_NAME,
            working_directory=task.folder,
            model=task.model,
            agent=task.agent,
            reasoning_effort=task.reasoning_effort,
            streaming=task.streaming,
            allow_tools=task.allow_tools,
            deny_tools=task.deny_tools,
            on_event=self._hear,
        )
        if self._person is not None:
            consent = Consent(self._person, task.folder)
            options["on_permission"] = consent.decide
            options["on_user_input"] = consent.answer
            options["on_exit_plan"] = consent.approve_plan
        if task.allow_all:
            options["on_permission"] = approve_all
        if task.resumed is None:
            session = await client.create_session(**options)
        else:
            session = await client.resume_session(task.resumed, **options)
        if task.mode is not None:
            await session.set_mode(task.mode)
        return session

    async def _converse(self, session: Session) -> SessionFailed | None:
        """Send the prompt and wait for the end of its run; the result is why it failed, if it did."""
        failure: TurnwrightError | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(self._stop_on_signal, session)
            group.start_soon(self._stop_without_output, session)
            try:
                await session.send_and_wait(
                    self._task.prompt,
                    timeout=None,
                    response_schema=self._task.schema,
                    attachments=self._task.attachments,
                )
            except TurnwrightError as error:
                failure = error
            group.cancel_scope.cancel()
        if failure is not None and not isinstance(failure, SessionFailed):
            raise failure
        # A run may well end without a reply, as when the user says no.
        return failure if failure is not None and failure.error_type != "no_reply" else None

    async def _stop_on_signal(self, session: Session) -> None:
        self._signal = await interrupted()
        tell("Stopping the run; once more to quit at once.")
        await _stop(session)

    async def _stop_without_output(self, session: Session) -> None:
        await self._output_ended.wait()
        await _stop(session)

    def _hear(self, event: Event) -> None:
        try:
            for hear in self._hearers:
                hear(event)
        except (BrokenPipeError, OutputError) as error:
            self._hearers.clear()
            self._unwritable = error
            self._output_ended.set()

    def _report(self, session_id: str, failure: SessionFailed | None, seconds: float) -> None:
        text = self._outcome.text
        is_usable = failure is None or self._task.schema is None  # who reads the result wants JSON that fits
        match self._format:
            case "json":
                show(wire.encode(self._outcome.as_object(session_id, failure)).decode())
            case "text" if text and is_usable:
                show(text)
            case _:
                pass
        if failure and self._signal is None:
            tell(f"turnwright: {failure}{self._about_key(failure)}")
        if self._format == "text" and text and not is_usable:
            tell(f"The last reply was: {text}")
        if sys.stderr.isatty():
            tell(f"{self._outcome.summary(seconds)} · session {session_id}")

    def _about_key(self, failure: SessionFailed) -> str:
        refused = failure.error_type in ("authentication", "authorization")
        return f" (the key is from {self._task.key_source})" if refused and self._task.key_source else ""


def _status(failure: SessionFailed | None) -> int:
    if failure is None:
        return 0
    return EMPTY if failure.error_type == EMPTY_REPLY else FAILED


def _warn(event: Event) -> None:
    """Tell of what the answer alone doesn't show: that it was cut off, or withheld."""
    if isinstance(event.data, Warned) and event.data.warning_type != EMPTY_REPLY:
        tell(f"turnwright: {event.data.message}")


async def _stop(session: Session) -> None:
    while True:  # an abort just before the run begins finds nothing to stop
        with suppress(TurnwrightError):
            await session.abort()
        await anyio.sleep(ABORT_AGAIN_SECONDS)
