"""The clients that are attached to a session, as the session sees them."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

import msgspec

from turnwright.engine.journal.journal import Journal
from turnwright.engine.models.inference import Inference
from turnwright.errors import ProviderError
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.commands import (
    CapabilitiesChanged,
    CommandsChanged,
    CommandSpec,
    UiCapabilities,
)
from turnwright.protocol.options import SessionOptions


class Client(Protocol):
    """One connection: takes events, answers calls, and may carry out model calls."""

    @property
    def inference(self) -> Inference | None:
        """What takes model calls to the client, once it asked to carry them out."""
        ...

    async def call(self, method: str, params: object, *, timeout: float | None = None) -> msgspec.Raw:
        """Ask the client. Raises RequestFailed, ConnectionClosed or TimeoutError."""
        ...

    def publish(self, session_id: str, event: Event) -> None:
        """Send an event; never blocks, never raises."""
        ...


class Attachment:
    """A client with what it asked for when it came; `publish` sends it an event of the session."""

    def __init__(self, client: Client, options: SessionOptions, session_id: str) -> None:
        self.client = client
        self.options = options
        self.publish = partial(client.publish, session_id)


class Clients:
    """Who hears of a session's events and answers its questions; the session goes on without any.

    `changes` counts how often one came, left, or asked for something else.
    """

    def __init__(self, session_id: str, journal: Journal) -> None:
        self._session_id = session_id
        self._journal = journal
        self._attached: list[Attachment] = []
        self.changes = 0
        self._changed = asyncio.Event()
        self._is_carried = False

    def attach(self, client: Client, options: SessionOptions) -> None:
        """Send events to a client from here on; one that is attached already is only updated."""
        before = self._abilities() if self._attached else None
        self.changes += 1
        for attachment in self._attached:
            if attachment.client is client:
                attachment.options = options
                break
        else:
            self._is_carried = self._carrying() is not None
            attachment = Attachment(client, options, self._session_id)
            self._attached.append(attachment)
            self._journal.subscribers.append(attachment.publish)
        if before is not None:
            self._announce(before)

    def detach(self, client: Client) -> None:
        """Send a client no more events."""
        before = self._abilities()
        for attachment in self._attached:
            if attachment.client is client:
                self.changes += 1
                self._attached.remove(attachment)
                self._journal.subscribers.remove(attachment.publish)
                self._announce(before)
                return

    @property
    def take_elicitation(self) -> bool:
        """Whether one of them shows forms to its user."""
        return self.any(lambda o: o.request_elicitation)

    def commands(self) -> list[CommandSpec]:
        """The slash commands of them all; of two with the same name the one that came last."""
        found = {spec.name: spec for options in self.options() for spec in options.commands or ()}
        return list(found.values())

    async def none_left(self, wanted: Callable[[SessionOptions], bool]) -> None:
        """Return when no attached client's options fit."""
        while self.any(wanted):
            await self._changed.wait()

    def _abilities(self) -> tuple[bool, list[CommandSpec]]:
        return self.take_elicitation, self.commands()

    def _announce(self, before: tuple[bool, list[CommandSpec]]) -> None:
        elicitation, commands = self._abilities()
        if elicitation != before[0]:
            self._journal.emit(CapabilitiesChanged(UiCapabilities(elicitation)))
        if commands != before[1]:
            self._journal.emit(CommandsChanged(commands))
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def find(self, wanted: Callable[[SessionOptions], bool] = lambda _: True) -> Client | None:
        """The first client whose options fit."""
        for attachment in self._attached:
            if wanted(attachment.options):
                return attachment.client
        return None

    def any(self, wanted: Callable[[SessionOptions], bool]) -> bool:
        """Whether there is a client whose options fit."""
        return self.find(wanted) is not None

    def carrier(self) -> Inference | None:
        """The first client that carries out model calls itself; None: they are sent from here.

        Raises ProviderError when the session had one that is gone: its requests may bear what is meant for
        that client alone. One that attaches later decides anew.
        """
        found = self._carrying()
        if found is None and self._is_carried:
            raise ProviderError(
                "the client that carries out this session's model calls is gone",
                kind="connection",
                sent=False,
            )
        self._is_carried = found is not None
        return found

    def _carrying(self) -> Inference | None:
        for attachment in self._attached:
            if attachment.client.inference is not None:
                return attachment.client.inference
        return None

    def options(self) -> Iterator[SessionOptions]:
        """What each of them asked for, the first one first."""
        return (attachment.options for attachment in self._attached)

    def __len__(self) -> int:
        return len(self._attached)
