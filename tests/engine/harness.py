"""A runtime with a scripted model and a client that records and answers."""

from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from msgspec import Raw

from turnwright.engine.inbox import Prompt
from turnwright.engine.journal.off_loop import Done, Work, outcome
from turnwright.engine.models.endpoint import Fixed
from turnwright.engine.permissions.permissions import Decision
from turnwright.engine.runtime import Runtime
from turnwright.engine.session import Session
from turnwright.engine.tool_calls.external_tool import Answer
from turnwright.errors import RequestFailed, StoreError
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.questions import ExternalToolRequested, PermissionRequested
from turnwright.protocol.options import SessionOptions, ToolSpec
from turnwright.providers.scripted import Scripted
from turnwright.store.base import EventStore
from turnwright.store.memory import MemoryStore

Handler = Callable[[object], object]


class Recorder:
    """A client: keeps every event, answers calls by `handlers`, and questions as they come by `on_event`."""

    inference = None

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.handlers: dict[str, Handler] = {}
        self.on_event: Callable[[Event], None] = lambda event: None
        self._news = anyio.Event()

    async def call(self, method: str, params: object, *, timeout: float | None = None) -> Raw:
        handler = self.handlers.get(method)
        if handler is None:
            raise RequestFailed(-32601, f"Unhandled method {method}")
        return Raw(wire.encode(handler(wire.builtins(params))))

    def publish(self, session_id: str, event: Event) -> None:
        self.events.append(event)
        self.on_event(event)
        news, self._news = self._news, anyio.Event()
        news.set()

    @property
    def types(self) -> list[str]:
        return [event.type for event in self.events]

    @property
    def persisted(self) -> list[Event]:
        return [event for event in self.events if not event.ephemeral]

    def count(self, type: str) -> int:
        return self.types.count(type)

    async def until(self, type: str, times: int = 1) -> None:
        """Wait until an event was seen so many times, five seconds at most."""
        with anyio.fail_after(5):
            while self.count(type) < times:
                await self._news.wait()


def answer_everything(session: Session, result: str = "ok") -> Callable[[Event], None]:
    """Approve each permission question and answer each external tool with `result`."""

    def react(event: Event) -> None:
        match event.data:
            case PermissionRequested(request_id=request_id):
                session.questions.answer(request_id, Decision("approve-once"))
            case ExternalToolRequested(request_id=request_id):
                session.questions.answer(request_id, Answer(result))
            case _:
                pass

    return react


def app_tools(*names: str) -> list[ToolSpec]:
    """Tools of the app that need no permission."""
    return [ToolSpec(name, f"The app's {name}", None, skip_permission=True) for name in names]


def say(session: Session, text: str, *, immediate: bool = False) -> str:
    """Send a message; its id."""
    message_id = wire.new_id()
    session.send(Prompt(message_id=message_id, text=text), immediate=immediate)
    return message_id


class HeldDisk:
    """An `OffLoop` whose syncs end when the test says so."""

    def __init__(self, *, is_held: bool = True) -> None:
        self.is_held = is_held
        self._under_way: deque[tuple[Work, Done]] = deque()

    def begin(self, work: Work, done: Done) -> None:
        if self.is_held:
            self._under_way.append((work, done))
        else:
            done(outcome(work))

    async def end(self, failure: StoreError | None = None) -> None:
        """End what is under way, and let happen what was waiting for that."""
        while self._under_way:
            work, done = self._under_way.popleft()
            done(failure or outcome(work))
        await anyio.wait_all_tasks_blocked()

    async def release(self) -> None:
        """Hold nothing from here on."""
        self.is_held = False
        await self.end()


@asynccontextmanager
async def running(
    model: Scripted, tmp_path: Path, store: EventStore | None = None, **settings: object
) -> AsyncGenerator[Runtime, None]:
    """A runtime over a scripted model; in memory unless a store is given."""
    async with Runtime(
        store or MemoryStore(tmp_path / "state"),
        Fixed(model, "scripted"),
        home=tmp_path,
        environment={},
        **settings,  # pyright: ignore[reportArgumentType]
    ) as runtime:
        yield runtime


def options(tmp_path: Path, **fields: object) -> SessionOptions:
    """Options of a session that works in `tmp_path`."""
    return SessionOptions(working_directory=str(tmp_path), **fields)  # pyright: ignore[reportArgumentType]
