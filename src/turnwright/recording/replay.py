"""A session that is run again by its recording: the same prompts, the same replies."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import anyio
import msgspec
from msgspec import Raw

from turnwright.engine.autopilot import NUDGE
from turnwright.engine.inbox import Prompt
from turnwright.engine.models.endpoint import DEFAULT_WINDOW, Fixed
from turnwright.engine.runtime import Runtime
from turnwright.engine.session import Session
from turnwright.errors import RequestFailed
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.session import SessionError
from turnwright.protocol.options import SessionOptions, SystemMessageOptions
from turnwright.providers.base import Provider
from turnwright.recording.difference import Difference
from turnwright.recording.form import Exchange, Recording, as_text
from turnwright.recording.model import Replay
from turnwright.recording.places import Places
from turnwright.recording.results import ALWAYS_RUN, RecordedTool, answer, elsewhere, results_of
from turnwright.rpc.messages import METHOD_NOT_FOUND
from turnwright.server.settings import Settings
from turnwright.server.start import started
from turnwright.tools.builtin import machine_tools

MAIN = "1"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How a recording is replayed, in which folder.

    `tools` run, or give their recorded results. From request `fork` on (counted from 1) the provider `then`
    replies, as `model`. With `keep_system` the system prompt is the recorded one.
    """

    recording: Recording
    folder: Path
    tools: Literal["run", "recorded"] = "recorded"
    keep_system: bool = False
    allow_tools: Sequence[str] = ()
    deny_tools: Sequence[str] = ()
    allow_all: bool = False
    fork: int | None = None
    then: Provider | None = None
    model: str | None = None


class Replayed(msgspec.Struct, frozen=True):
    """What came of it: requests that were as recorded, the first difference, why the last run failed."""

    session_id: str
    requests: int
    difference: Difference | None
    failure: str | None
    answer: str


async def replay(plan: Plan, settings: Settings) -> Replayed:
    """Run a recording again, in a new session of the home in `settings`."""
    stage = _Stage(plan, settings)
    window = plan.recording.window or DEFAULT_WINDOW
    endpoints = Fixed(stage.model, plan.recording.model or "recorded", window)
    async with started(settings, endpoints=endpoints, tools=stage.tools) as runtime:
        return await stage.perform(runtime)


class _Stage:
    """The session's client: says what was said, and hears what becomes of it."""

    inference = None

    def __init__(self, plan: Plan, settings: Settings) -> None:
        self._plan = plan
        self._id = wire.new_id()
        self._places = Places(folder=plan.folder, state=settings.home, session_id=self._id)
        self._results = results_of(plan.recording, self._places) if plan.tools == "recorded" else {}
        if plan.fork is not None:
            self._results = self._up_to(plan.fork)
        self.tools = tuple(RecordedTool(tool, self._results) for tool in machine_tools())
        until = None if plan.fork is None else plan.fork - 1
        self.model = Replay(
            plan.recording,
            lambda _: self._places,
            before_reply=self._before_reply,
            until=until,
            then=plan.then,
        )
        told = plan.recording.exchanges if plan.fork is None else plan.recording.exchanges[: plan.fork]
        self._script = [exchange for exchange in told if exchange.conversation == MAIN]
        self._session: Session | None = None
        self._idle = anyio.Event()
        self._failure: str | None = None
        self._answer = ""

    async def perform(self, runtime: Runtime) -> Replayed:
        session = self._session = await runtime.create(self._options(), self)
        session.permissions.approve_all = self._plan.allow_all
        if self._plan.fork == 1 and self._plan.model:
            session.choice.switch(self._plan.model)
        done = -1
        while self.model.difference is None and (at := self._at()) < len(self._script) and at > done:
            done = at
            await self._prompt(session, self._script[at])
        missing = self._missing() if self._plan.fork is None else None
        return Replayed(
            self._id, self.model.served, self.model.difference or missing, self._failure, self._answer
        )

    async def call(self, method: str, params: object, *, timeout: float | None = None) -> Raw:
        raise RequestFailed(METHOD_NOT_FOUND, f"Nobody is there to answer {method} in a replay")

    def publish(self, session_id: str, event: Event) -> None:
        if self._session is not None:
            answer(self._session, event, self._results)
        match event.data:
            case SessionError(message=message):
                self._failure = message
            case _ if event.type == "assistant.message" and event.agent_id is None:
                self._answer = getattr(event.data, "content", "") or self._answer
            case _ if event.type == "session.idle":
                self._idle.set()
            case _:
                pass

    def _options(self) -> SessionOptions:
        plan = self._plan
        tools = elsewhere(plan.recording, self.tools) if plan.tools == "recorded" else None
        options = SessionOptions(
            session_id=self._id,
            working_directory=str(plan.folder),
            tools=tools,
            allow_tools=list(plan.allow_tools),
            deny_tools=list(plan.deny_tools),
        )
        system = next((each.system for each in self._script if each.system is not None), None)
        if plan.keep_system and system is not None:
            content = self._places.show(as_text(system))
            options.system_message = SystemMessageOptions("replace", content)
        return options

    def _at(self) -> int:
        """How many of the conversation's recorded requests have come."""
        return len(self._script) - self.model.left_of(MAIN) - (1 if self._is_beyond() else 0)

    def _is_beyond(self) -> bool:
        """Whether the script's last exchange is the one that another model shall reply to."""
        return self._plan.fork is not None and self._plan.fork <= len(self._plan.recording.exchanges)

    async def _prompt(self, session: Session, exchange: Exchange) -> None:
        texts = _users(exchange)
        if not texts:
            return
        session.set_mode(exchange.mode)
        self._idle, self._failure = anyio.Event(), None
        for number, text in enumerate(texts):
            self._say(session, text, steering=number > 0)
        await self._idle.wait()

    def _say(self, session: Session, text: str, *, steering: bool) -> None:
        prompt = Prompt(message_id=wire.new_id(), text=self._places.show(text))
        session.send(prompt, immediate=steering)

    async def _before_reply(self, exchange: Exchange) -> None:
        """Do what was done while the model replied: steer, abort, change the mode or the model."""
        session = self._session
        if session is None or exchange.conversation != MAIN:
            return
        if exchange.reply is None and exchange.failure is None:
            session.abort()
            return
        following = self._at()
        if following >= len(self._script):
            return
        upcoming = self._script[following]
        if exchange.reply is not None and exchange.reply.calls and not _is_last(exchange):
            for text in _users(upcoming):
                self._say(session, text, steering=True)
            session.set_mode(upcoming.mode)
        if upcoming is self._script[-1] and self._is_beyond() and self._plan.model:
            session.choice.switch(self._plan.model)

    def _up_to(self, fork: int) -> dict[str, str]:
        before = msgspec.structs.replace(
            self._plan.recording, exchanges=self._plan.recording.exchanges[:fork]
        )
        return results_of(before, self._places)

    def _missing(self) -> Difference | None:
        if not self.model.left:
            return None
        return Difference(self.model.served + 1, "which was recorded, did not come", ())


def _users(exchange: Exchange) -> list[str]:
    """What users said before a request, less what autopilot says by itself."""
    said = [as_text(each.user) for each in exchange.messages if each.user is not None]
    return [text for text in said if text != NUDGE]


def _is_last(exchange: Exchange) -> bool:
    """Whether a reply ends its run though it has calls."""
    return exchange.reply is not None and any(call.name in ALWAYS_RUN for call in exchange.reply.calls)
