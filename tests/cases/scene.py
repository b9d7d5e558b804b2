"""A session with its client and its model; what must hold of every log is checked when the scene ends."""

from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio

from tests.engine.harness import Recorder, say
from turnwright.engine.models.endpoint import Fixed
from turnwright.engine.runtime import Runtime
from turnwright.engine.session import Session
from turnwright.protocol.envelope import Event
from turnwright.protocol.events import Data
from turnwright.protocol.events.conversation import AssistantMessage, TurnEnd, TurnStart, UserMessage
from turnwright.protocol.events.tools import ToolComplete
from turnwright.protocol.messages import ToolOutput, User
from turnwright.protocol.options import Durability, SessionOptions
from turnwright.protocol.prices import Prices
from turnwright.providers.base import ModelRequest, Provider
from turnwright.providers.scripted import Scripted, Step
from turnwright.store.base import EventStore
from turnwright.store.memory import MemoryStore
from turnwright.tools.base import Tool

D = TypeVar("D", bound=Data)


class Scene:
    """A live session, the client that created it, and the scripted model, if it is one."""

    def __init__(self, runtime: Runtime, session: Session, client: Recorder, model: Scripted) -> None:
        self.runtime = runtime
        self.session = session
        self.client = client
        self.model = model

    async def prompt(self, text: str) -> None:
        """Send a message and wait for the idle after it."""
        idles = self.client.count("session.idle")
        say(self.session, text)
        await self.client.until("session.idle", idles + 1)

    def all(self, kind: type[D]) -> list[D]:
        """The payloads of all published events of a kind."""
        return [event.data for event in self.client.events if isinstance(event.data, kind)]

    def completions(self) -> dict[str, ToolComplete]:
        """The results that were published, by call."""
        return {done.tool_call_id: done for done in self.all(ToolComplete)}

    def said(self) -> list[str]:
        """The user's messages in the log, nudges as empty texts."""
        return [message.content for message in self.all(UserMessage)]


@asynccontextmanager
async def scene(
    tmp_path: Path,
    script: Iterable[Step] | Provider = (),
    *,
    store: EventStore | None = None,
    machine: Sequence[Tool] = (),
    environment: Mapping[str, str] | None = None,
    client: Recorder | None = None,
    durability: Durability = "turn",
    prices: Prices | None = None,
    **options: Any,
) -> AsyncGenerator[Scene, None]:
    """Start a runtime in `tmp_path` with one session, whose model follows `script` or is that provider.

    `machine` are tools of the runtime; `prices` the model's, `options` are the session's.
    """
    client = client or Recorder()
    model = Scripted(script if isinstance(script, Iterable) else ())
    provider = model if isinstance(script, Iterable) else script
    runtime = Runtime(
        store or MemoryStore(tmp_path / "state"),
        Fixed(provider, "scripted", prices=prices),
        tools=machine,
        home=tmp_path,
        environment=environment or {},
        durability=durability,
    )
    options = {"working_directory": str(tmp_path), **options}
    with anyio.fail_after(30):
        async with runtime:
            session = await runtime.create(SessionOptions(**options), client)
            yield Scene(runtime, session, client, model)
            events = session.journal.events()
    accounted_for(events)
    if provider is model:
        assert model.problems == []
        assert turns(events) == len(model.requests)


def turns(events: Sequence[Event]) -> int:
    """How many turns were started, but for those that sent no request."""
    started = sum(isinstance(event.data, TurnStart) for event in events)
    return started - sum(isinstance(event.data, TurnEnd) and not event.data.request_sent for event in events)


def accounted_for(events: Sequence[Event]) -> None:
    """Assert that turns come in pairs, calls have one result each, and parents form an unbroken chain."""
    open_turns: list[str] = []
    for event in events:
        match event.data:
            case TurnStart(turn_id=turn_id):
                open_turns.append(turn_id)
                assert len(open_turns) == 1
            case TurnEnd(turn_id=turn_id):
                assert open_turns == [turn_id]
                open_turns.clear()
            case _:
                pass
    assert not open_turns
    replies = [event.data for event in events if isinstance(event.data, AssistantMessage)]
    asked = Counter(request.tool_call_id for reply in replies for request in reply.tool_requests)
    assert Counter(e.data.tool_call_id for e in events if isinstance(e.data, ToolComplete)) == asked
    parents = [None, *(event.id for event in events)]
    assert [event.parent_id for event in events] == parents[:-1]


def results(request: ModelRequest) -> dict[str, str]:
    """The results that a model was given, by call."""
    return {m.call_id: m.content for m in request.messages if isinstance(m, ToolOutput)}


def words(request: ModelRequest) -> list[str]:
    """What a model was told in the user's place, each message without the time that stands before it."""
    texts = [message.content for message in request.messages if isinstance(message, User)]
    return [text.partition("</current_datetime>\n\n")[2] or text for text in texts]


def offered(request: ModelRequest) -> set[str]:
    """The names of the tools on offer."""
    return {tool.name for tool in request.tools}
