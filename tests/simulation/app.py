"""An app: it sends messages, answers questions, aborts and comes back, as chance has it."""

import os
from collections.abc import Awaitable, Callable
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import anyio

from tests.simulation.connection import Connection
from turnwright.errors import ConnectionClosed, RequestFailed
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.questions import ExternalToolRequested, PermissionRequested
from turnwright.protocol.wire import Json

if TYPE_CHECKING:
    from tests.simulation.process import Process
    from tests.simulation.world import World

T = TypeVar("T")

SESSION = "s"
ATTEMPTS = 100
LATE = 100.0
HOOKS_MISBEHAVE = 0.1
ACTIONS = (
    *("ask", "ask", "ask", "ask and abort", "queue", "queue", "steer", "steer"),
    *("abort", "mode", "rename", "messages", "destroy", "destroy and send", "clear", "suspend", "list"),
)
ANSWERS = ("approve-once", "approve-once", "approve-for-session", "reject", "user-not-available")
MODES = ("interactive", "plan", "autopilot")


class Accepted(NamedTuple):
    """A message whose id was answered, and the process that did."""

    message_id: str
    process: "Process"


class App:
    """One client, which may have many connections one after the other."""

    def __init__(self, name: str, seed: int, world: "World") -> None:
        self.name = name
        self.chance = Random(f"{seed} {name}")
        self.world = world
        self.connections: list[Connection] = []
        self.accepted: list[Accepted] = []
        self.refusals: list[str] = []
        self._answered: set[str] = set()

    # What it does

    async def play(self, actions: int) -> None:
        """Do so many things, one after the other."""
        for number in range(actions):
            await anyio.sleep(self.chance.choice((0, 0, 0.05, 0.5, 3)))
            what = "ask" if number == 0 else self.chance.choice(ACTIONS)
            self.world.trace.add(self.name, what)
            await self.do(what)

    async def do(self, what: str) -> None:
        """Do one thing; where it is refused for good, that is that."""
        match what:
            case "ask":
                await self.insist(self.ask)
            case "ask and abort":
                await self.insist(self.send)
                await anyio.sleep(self.chance.uniform(0, 2))
                await self.attempt("session.abort")
            case "queue":
                await self.insist(self.send)
            case "steer":
                await self.insist(lambda c: self.send(c, mode="immediate"))
            case "abort":
                await self.attempt("session.abort")
            case "mode":
                await self.attempt("session.mode.set", mode=self.chance.choice(MODES))
            case "rename":
                await self.attempt("session.name.set", name=f"name {self.chance.randint(0, 9)}")
            case "messages":
                await self.attempt("session.getMessages")
            case "clear":
                self.world.cleared = True
                await self.attempt("session.queue.clear")
            case "suspend":
                await self.attempt("session.suspend")
            case "destroy":
                await self.attempt("session.destroy")
            case "destroy and send":
                await self.destroy_and_send()
            case _:
                await self.attempt("session.list")

    async def ask(self, connection: Connection) -> None:
        """Send a message, and wait for the next idle or as long as one has patience."""
        idles = connection.idles
        await self.send(connection)
        with anyio.move_on_after(self.chance.uniform(1, 60)):
            while connection.idles == idles and connection.is_open:
                await connection.news()

    async def send(self, connection: Connection, **fields: Any) -> None:
        """Send a message; its id is remembered."""
        answer = await connection.call(
            "session.send", sessionId=SESSION, prompt=f"{self.name} says", **fields
        )
        self.accepted.append(Accepted(answer["messageId"], connection.process))

    async def destroy_and_send(self) -> None:
        """Destroy the session, and send something without waiting for that, or the other way round."""

        async def both(connection: Connection) -> None:
            acts: list[Callable[[], Awaitable[object]]] = [
                lambda: connection.call("session.destroy", sessionId=SESSION),
                lambda: self.send(connection),
            ]
            self.chance.shuffle(acts)
            async with anyio.create_task_group() as group:
                for act in acts:
                    group.start_soon(self._try, act)
                    await anyio.sleep(self.chance.choice((0, 0, 0.001, 0.1)))

        await self.insist(both)

    async def attempt(self, method: str, **params: Any) -> None:
        """Call a method; what is refused is refused."""
        fields = params if method == "session.list" else {"sessionId": SESSION, **params}
        await self.insist(lambda connection: self._try(lambda: connection.call(method, **fields)))

    async def _try(self, act: Callable[[], Awaitable[object]]) -> None:
        try:
            await act()
        except RequestFailed as error:
            self.refused(error)
        except (ConnectionClosed, TimeoutError):
            self.world.trace.add(self.name, "has no answer")

    def refused(self, error: RequestFailed) -> None:
        """Note that something was refused, and why."""
        text = str(error).replace(str(os.getpid()), "PID").replace(str(self.world.home), "HOME")
        self.refusals.append(text)
        self.world.trace.add(self.name, f"is refused: {text}")

    # How it is connected

    async def insist(self, act: Callable[[Connection], Awaitable[T]], attempts: int = ATTEMPTS) -> T | None:
        """Do something with a connection that is attached to the session, again until it can be done."""
        for attempt in range(attempts):
            try:
                return await act(await self.attached())
            except RequestFailed as error:
                self.refused(error)
                await self.leave()
                await anyio.sleep(min(20, 1 + attempt))
            except (ConnectionClosed, TimeoutError, anyio.BrokenResourceError) as error:
                self.world.trace.add(self.name, f"has no connection: {type(error).__name__}")
                await self.leave()
                await anyio.sleep(0.5)
        if attempts == ATTEMPTS:
            raise AssertionError(f"{self.name} was refused {attempts} times; at last: {self.refusals[-1:]}")
        return None

    @property
    def connection(self) -> Connection | None:
        """The connection in use."""
        return self.connections[-1] if self.connections and self.connections[-1].is_open else None

    async def leave(self) -> None:
        """Hang up."""
        if self.connection is not None:
            connection = self.connection
            await connection.hang_up()
            while connection.is_open:
                await connection.news()

    async def attached(self) -> Connection:
        """A connection by which the session is live. Raises what a call does, and BrokenResourceError."""
        connection = self.connection
        if connection is None:
            connection = await self.connect(await self.world.process())
        if not connection.events:
            await self.take_up(connection)
        return connection

    async def connect(self, process: "Process") -> Connection:
        """Open a connection. Raises BrokenResourceError."""
        connection = Connection(process, process.connect(), self._hear, self._answer_call)
        self.connections.append(connection)
        self.world.tasks.start_soon(connection.run)
        return connection

    async def take_up(self, connection: Connection) -> None:
        """Create the session, or resume it."""
        await connection.call("connect")
        if not self.world.is_created:
            await self._create(connection)
            return
        goes_on = self.chance.random() < 0.5
        self.world.trace.add(self.name, "resumes" + (" and continues" if goes_on else ""))
        try:
            await connection.call(
                "session.resume", sessionId=SESSION, continuePendingWork=goes_on, **self._options()
            )
        except RequestFailed as error:
            if "not found" in str(error):  # it was killed before its first event
                self.world.is_created = False
            raise
        if goes_on:
            answer = await connection.call("session.getMessages", sessionId=SESSION)
            for requested in _open_questions(answer["events"]):
                self.world.tasks.start_soon(self._settle, connection, *requested)

    async def _create(self, connection: Connection) -> None:
        try:
            await connection.call("session.create", sessionId=SESSION, **self._options())
        except RequestFailed as error:
            if "exists" not in str(error) and "is live" not in str(error):
                raise
        self.world.is_created = True

    def _options(self) -> dict[str, Any]:
        return {
            "workingDirectory": "/",
            "streaming": True,
            "requestPermission": True,
            "requestUserInput": True,
            "hooks": self.world.has_hooks,
            "skipCustomInstructions": True,
            "systemMessage": {"mode": "replace", "content": "You are simulated."},
            "autopilot": {"maxIdleContinuations": 1, "maxContinuations": 2},
            "tools": [
                {"name": "app", "description": "The app's", "skipPermission": True},
                {"name": "asks", "description": "The app's, which asks first"},
            ],
        }

    # How it answers

    def _hear(self, event: Event) -> None:
        connection = self.connections[-1]
        match event.data:
            case PermissionRequested(request_id=request_id):
                self.world.tasks.start_soon(self._settle, connection, "permission", request_id)
            case ExternalToolRequested(request_id=request_id):
                self.world.tasks.start_soon(self._settle, connection, "tool", request_id)
            case _:
                pass

    async def _settle(self, connection: Connection, kind: str, request_id: str) -> None:
        """Answer a question, in time or late."""
        faults = self.world.faults
        await anyio.sleep(self.chance.uniform(0, 0.5))
        if faults.strikes("slow", f"an answer to a {kind}"):
            await anyio.sleep(faults.between(1, 20))
        if faults.strikes("late answer", f"to a {kind}"):
            await anyio.sleep(LATE)
        if not connection.is_open:
            return
        if kind == "permission":
            answer: Json = {"kind": self.chance.choice(ANSWERS)}
            if faults.strikes("garbage", "a permission's answer"):
                answer = {"kind": "nonsense"}
            await self._reply(
                connection, "permissions.handlePendingPermissionRequest", request_id, result=answer
            )
            return
        found: dict[str, Any] = {"result": "found"}
        if faults.strikes("raise", "the app's tool"):
            found = {"error": "no luck"}
        elif faults.strikes("garbage", "the app's result"):
            found = {"result": {"resultType": 5}}
        await self._reply(connection, "tools.handlePendingToolCall", request_id, **found)

    async def _reply(self, connection: Connection, method: str, request_id: str, **answer: Any) -> None:
        await self._try(
            lambda: connection.call(f"session.{method}", sessionId=SESSION, requestId=request_id, **answer)
        )

    async def _answer_call(self, kind: str, params: Json) -> object:
        faults = self.world.faults
        await anyio.sleep(self.chance.uniform(0, 0.2))
        if faults.strikes("slow", f"a {kind}"):
            await anyio.sleep(faults.between(1, 20))
        if faults.strikes("raise", f"a {kind}", HOOKS_MISBEHAVE):
            raise RuntimeError("a bug in a handler")
        if faults.strikes("garbage", f"a {kind}", HOOKS_MISBEHAVE):
            return "nonsense"
        if kind == "input":
            return {"answer": "this one", "wasFreeform": True}
        return {"output": None}


def _open_questions(events: list[Json]) -> list[tuple[str, str]]:
    """The questions that a log leaves open: what kind, and which."""
    found: dict[str, tuple[str, str]] = {}
    for event in events:
        request_id = event["data"].get("requestId", "")
        match event["type"]:
            case "permission.requested":
                found[request_id] = ("permission", request_id)
            case "external_tool.requested":
                found[request_id] = ("tool", request_id)
            case "permission.completed" | "external_tool.completed":
                found.pop(request_id, None)
            case _:
                pass
    return [*found.values()]
