"""What becomes of one message: its run's reply, once the session is idle again."""

from typing import cast

import anyio

from turnwright.client.events import EventOf
from turnwright.errors import ConnectionClosed, SessionFailed, TurnwrightError
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.conversation import AssistantMessage, TurnStart, UserMessage
from turnwright.protocol.events.session import Abort, Idle, SessionError, Shutdown

RELEVANT = frozenset(
    kind.event_type
    for kind in (AssistantMessage, TurnStart, UserMessage, Abort, Idle, SessionError, Shutdown)
)


class Completion:
    """Follows a session's events from before a message was sent until its run is over and the session idle.

    Idle events of earlier prompts, and replies and errors of other runs, are told apart by the message's id:
    its `user.message` opens its run, and the next prompt that had to wait in the queue closes it.
    """

    def __init__(self) -> None:
        self._message_id: str | None = None
        self._early: list[Event] = []
        self._logged = False
        self._in_run = False
        self._aborted = False
        self._reply: Event | None = None
        self._error: SessionError | None = None
        self._failure: TurnwrightError | None = None
        self._done = anyio.Event()

    def begin(self, message_id: str) -> None:
        """Learn the message's id, which may come after the first events of its run."""
        self._message_id = message_id
        early, self._early = self._early, []
        for event in early:
            # An idle from before the answer that has no message before it is an earlier prompt's.
            if self._logged or event.type in (UserMessage.event_type, Shutdown.event_type):
                self.take(event)

    def take(self, event: Event) -> None:
        """Look at the next event."""
        if event.type not in RELEVANT or event.agent_id is not None or self._done.is_set():
            return
        if self._message_id is None:
            self._early.append(event)
            return
        match event.data:
            case UserMessage() as message if message.message_id == self._message_id:
                self._logged = self._in_run = True
                self._error = None
            case UserMessage(delivery="queued"):
                self._in_run = False
            case TurnStart() if self._concerns_us():
                self._error = None  # what went wrong before did not end the run
            case AssistantMessage() if self._in_run:
                self._reply = event
            case SessionError() as error if self._concerns_us():
                self._error = error
            case Abort() if self._in_run:
                self._aborted = True
            case Idle() as idle:
                self._aborted = self._aborted or (self._concerns_us() and bool(idle.aborted))
                self._done.set()
            case Shutdown():
                self.fail(SessionFailed("shutdown", "The session was shut down before its run was over."))
            case _:
                pass

    def fail(self, failure: TurnwrightError) -> None:
        """Wake the one who waits: the session is gone."""
        if not self._done.is_set():
            self._failure = failure
            self._done.set()

    async def reply(self) -> EventOf[AssistantMessage]:
        """Wait, then return the run's last reply.

        Raises SessionFailed when the run failed, was aborted or gave no reply, and ConnectionClosed.
        """
        await self._done.wait()
        if self._failure is not None:
            raise self._failure
        if self._error is not None:
            raise SessionFailed(self._error.error_type, self._error.message)
        if self._aborted:
            raise SessionFailed("aborted", "The run was aborted.")
        if self._reply is None:
            raise SessionFailed("no_reply", "The run ended without a reply.")
        return cast("EventOf[AssistantMessage]", self._reply)

    def _concerns_us(self) -> bool:
        """Whether an event is of our run, or of a run that failed before it could log our message."""
        return self._in_run or not self._logged


def disconnected() -> ConnectionClosed:
    """Why a wait ends when nothing more will be heard."""
    return ConnectionClosed("The connection to the runtime closed before the run was over")
