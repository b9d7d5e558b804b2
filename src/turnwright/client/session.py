"""A session as the app sees it: messages go in, events and replies come out."""

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Self, TypedDict, TypeVar, Unpack, cast, overload

import anyio
from msgspec import Raw

from turnwright.client.completion import Completion, disconnected
from turnwright.client.config import Handlers
from turnwright.client.connection import Connection
from turnwright.client.events import EventOf
from turnwright.client.questions import Questions
from turnwright.client.subscriptions import Subscriptions
from turnwright.client.typed_answer import read, schema_for
from turnwright.client.usage import SessionUsage
from turnwright.protocol.envelope import Event, parse
from turnwright.protocol.events import Data
from turnwright.protocol.events.conversation import AssistantMessage
from turnwright.protocol.events.session import Mode, ModeChanged
from turnwright.protocol.rewind import RewindPoints, RewindPreview, RewindResult
from turnwright.protocol.wire import Wire

D = TypeVar("D", bound=Data)
T = TypeVar("T")

HANDLER_SECONDS = 1.0
"""For so long the end of a wait gives event handlers to catch up."""


class _Sent(Wire):
    message_id: str


class _Log(Wire):
    events: list[Raw]


class MessageOptions(TypedDict, total=False):
    """How a message is taken: in its turn or at once, the mode of its run alone, what goes with it.

    `request_headers` go to the model's server.
    """

    mode: Literal["enqueue", "immediate"]
    agent_mode: Mode | None
    attachments: Sequence[Mapping[str, Any]]
    request_headers: Mapping[str, str] | None


class Session:
    """One conversation. Get it from `Client.create_session` or `Client.resume_session`.

    As an async context manager it disconnects at the end; its log stays.
    """

    def __init__(self, session_id: str, connection: Connection) -> None:
        self.id = session_id
        self.workspace_path: str | None = None
        self.handlers = Handlers()
        self.questions = Questions(session_id, connection)
        self.subscriptions = Subscriptions()
        self._connection = connection
        self._mode: Mode = "interactive"
        self._waits: list[Completion] = []
        connection.sessions[session_id] = self
        connection.tasks.start_soon(self.subscriptions.serve)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.disconnect()

    async def send(
        self,
        prompt: str,
        *,
        response_schema: type | Mapping[str, Any] | None = None,
        **options: Unpack[MessageOptions],
    ) -> str:
        """Send a message and return its id at once.

        It waits for its turn, or, with the mode `immediate`, steers the run in hand. The run's last reply is
        then JSON that fits `response_schema`: a type of msgspec or pydantic, a dataclass, a TypedDict, or a
        JSON Schema.
        """
        params = {
            "prompt": prompt,
            "mode": options.get("mode", "enqueue"),
            "agentMode": options.get("agent_mode"),
            "attachments": options.get("attachments", ()),
            "requestHeaders": options.get("request_headers"),
            "responseSchema": None if response_schema is None else schema_for(response_schema),
        }
        given = {name: value for name, value in params.items() if value is not None}
        return (await self._call("session.send", _Sent, **given)).message_id

    @overload
    async def send_and_wait(
        self,
        prompt: str,
        *,
        response_schema: None = None,
        timeout: float | None = 60.0,
        **options: Unpack[MessageOptions],
    ) -> EventOf[AssistantMessage]: ...
    @overload
    async def send_and_wait(
        self,
        prompt: str,
        *,
        response_schema: type[T],
        timeout: float | None = 60.0,
        **options: Unpack[MessageOptions],
    ) -> T: ...
    @overload
    async def send_and_wait(
        self,
        prompt: str,
        *,
        response_schema: Mapping[str, Any],
        timeout: float | None = 60.0,
        **options: Unpack[MessageOptions],
    ) -> Any: ...
    async def send_and_wait(
        self,
        prompt: str,
        *,
        response_schema: type | Mapping[str, Any] | None = None,
        timeout: float | None = 60.0,
        **options: Unpack[MessageOptions],
    ) -> Any:
        """Send a message, wait until the session is idle, and return the last reply of the message's run.

        With a `response_schema`, return the answer itself: a value of that type, or plain data for a JSON
        Schema. Raises SessionFailed when the run failed or was aborted, or its answer doesn't fit (error type
        `response_schema`), ConnectionClosed, and TimeoutError after `timeout` seconds, which doesn't stop the
        agent.
        """
        completion = Completion()
        self._waits.append(completion)
        try:
            with anyio.fail_after(timeout):
                completion.begin(await self.send(prompt, response_schema=response_schema, **options))
                reply = await completion.reply()
        finally:
            self._waits.remove(completion)
        await self.subscriptions.caught_up(HANDLER_SECONDS)
        return reply if response_schema is None else read(reply.data.content, response_schema)

    @overload
    def on(self, event: type[D], handler: Callable[[EventOf[D]], object]) -> Callable[[], None]: ...
    @overload
    def on(self, event: str, handler: Callable[[Any], object]) -> Callable[[], None]: ...
    def on(self, event: type[Data] | str, handler: Callable[[Any], object]) -> Callable[[], None]:
        """Call `handler`, sync or async, with each event of a type from here on, or of all types for `*`.

        Handlers are called in the events' order, one at a time, on the event loop; one may call the session,
        and one that raises leaves a line in the log. Returns the function that ends it.
        """
        return self.subscriptions.add(event if isinstance(event, str) else event.event_type, handler)

    async def abort(self) -> None:
        """Stop the run in hand, with its tools; what is queued stays queued."""
        await self._call("session.abort", object)

    async def get_events(self) -> list[Event]:
        """The events of the session's log, oldest first."""
        found = await self._call("session.getMessages", _Log)
        return [parse(bytes(event)) for event in found.events]

    async def rewind_points(self) -> RewindPoints:
        """The prompts that the session can go back to, oldest first."""
        return await self._call("session.history.listRewindPoints", RewindPoints)

    async def preview_rewind(self, event_id: str) -> RewindPreview:
        """What going back to before a prompt would do to files."""
        return await self._call("session.history.previewRewind", RewindPreview, eventId=event_id)

    async def rewind(
        self, event_id: str, *, files: bool = True, overwrite_modified: bool = False
    ) -> RewindResult:
        """Go back to before a prompt: the conversation, and with `files` what tools changed in files since.

        Files that somebody else has changed since are left alone, unless `overwrite_modified`. What went
        wrong is in the result.
        """
        return await self._call(
            "session.history.rewind",
            RewindResult,
            eventId=event_id,
            mode="conversation-and-files" if files else "conversation",
            overwriteModified=overwrite_modified,
        )

    async def usage(self) -> SessionUsage:
        """Requests, tokens and money so far, by model."""
        return await self._call("session.usage.getMetrics", SessionUsage)

    @property
    def mode(self) -> Mode:
        """The session's mode, as last heard."""
        return self._mode

    async def set_mode(self, mode: Mode) -> None:
        """Change the mode, from the next model call on."""
        await self._call("session.mode.set", object, mode=mode)

    async def set_model(self, model: str, *, reasoning_effort: str | None = None) -> None:
        """Let another model answer from the next call on."""
        given = {"modelId": model, "reasoningEffort": reasoning_effort}
        await self._call(
            "session.model.switchTo", object, **{n: v for n, v in given.items() if v is not None}
        )

    async def set_name(self, name: str) -> None:
        """Name the session."""
        await self._call("session.name.set", object, name=name)

    async def disconnect(self) -> None:
        """Let go of the session; doing so twice is fine.

        A runtime that is this client's own ends what the session does. In one that is shared it goes on.
        """
        if self._connection.sessions.get(self.id) is not self:
            return
        await self._call("session.detach" if self._connection.shared else "session.destroy", object)
        await self.wind_up()

    # What the client does with it

    def receive(self, event: Event) -> None:
        """Take the next event."""
        if event.type == ModeChanged.event_type and isinstance(event.data, ModeChanged):
            self._mode = event.data.new_mode
        for wait in self._waits:
            wait.take(event)
        self.questions.take(event)
        self.subscriptions.put(event)

    def use(self, handlers: Handlers) -> None:
        """Answer questions with these handlers from here on."""
        self.handlers = handlers
        self.questions.tools = handlers.tools
        self.questions.on_permission = handlers.on_permission

    async def catch_up(self, *, answer: bool) -> None:
        """Learn the state of a session that was resumed; with `answer`, take up its open questions."""
        self._mode = cast("Mode", await self._call("session.mode.get", str))
        if answer:
            self.questions.take_up(await self.get_events())

    async def wind_up(self) -> None:
        """Give the handlers a second to hear of what came, then close."""
        await self.subscriptions.caught_up(HANDLER_SECONDS)
        self.close()

    def close(self) -> None:
        """Wake those who wait and stop the app's functions: nothing more will be heard."""
        self._connection.sessions.pop(self.id, None)
        for wait in self._waits:
            wait.fail(disconnected())
        self.questions.cancel_all()
        self.subscriptions.end()

    async def _call(self, method: str, kind: type[T], **params: object) -> T:
        return await self._connection.call(method, {"sessionId": self.id, **params}, kind)
