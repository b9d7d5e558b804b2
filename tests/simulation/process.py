"""One process of a run: a runtime that serves connections, until it ends or is killed."""

from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from tests.cases.local_tool import LocalTool
from tests.simulation.cable import ClientEnd, Pipe, ServerEnd
from tests.simulation.disk import SimulatedDisk
from tests.simulation.faults import Faults
from tests.simulation.model import NAME, Model, ProcessModel
from tests.simulation.trace import Trace
from turnwright.engine.models.endpoint import Fixed
from turnwright.engine.runtime import Runtime
from turnwright.server.serve import serve_transport
from turnwright.server.settings import Settings
from turnwright.store.jsonl import JsonlStore
from turnwright.tools.base import Call, ToolResult

STORE = "session-state"


class Process:
    """A runtime over the run's home, with a disk and a model that die with it."""

    def __init__(
        self,
        number: int,
        home: Path,
        model: Model,
        faults: Faults,
        trace: Trace,
        idle_timeout: float | None = None,
    ) -> None:
        self.number = number
        self.disk = SimulatedDisk(faults, self.crash)
        self._home = home
        self._model = model
        self._own_model = ProcessModel(model)
        self._faults = faults
        self._trace = trace
        self._idle_timeout = idle_timeout
        self._ends = anyio.Event()
        self._scope = anyio.CancelScope()
        self._connections: TaskGroup
        self.runtime: Runtime
        self.is_up = False
        self.crashed = False
        self.over = anyio.Event()

    async def run(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Serve until `stop` or `crash`."""
        home = self._home
        settings = Settings(home)
        with self._scope:
            self.runtime = Runtime(
                JsonlStore(home / STORE, self.disk),
                Fixed(self._own_model, NAME),
                tools=[LocalTool("local", self._work)],
                home=home,
                environment={},
                off_loop=self.disk.off_loop,
                idle_timeout=self._idle_timeout,
            )
            async with self.runtime, anyio.create_task_group() as self._connections:
                self._settings = settings
                self.is_up = True
                self._trace.add(f"process {self.number}", "is up")
                task_status.started()
                await self._ends.wait()
                settings.stopping.set()
                self._connections.cancel_scope.cancel()
        self.is_up = False
        self._trace.add(f"process {self.number}", "is gone")
        self.over.set()

    @property
    def is_busy(self) -> bool:
        """Whether a run is in hand or about to begin."""
        return any(session.is_busy for session in self.runtime.sessions.values())

    def connect(self) -> ClientEnd:
        """A new connection. Raises BrokenResourceError when there is nobody to connect to."""
        if not self.is_up:
            raise anyio.BrokenResourceError
        up, down = Pipe(), Pipe()
        server = ServerEnd(up, down, lambda: not self.crashed)
        self._connections.start_soon(serve_transport, self.runtime, self._settings, server, "simulated")
        return ClientEnd(up, down, self._faults)

    def crash(self) -> None:
        """Be killed: from here on nothing that the process does is of any effect."""
        if self.is_up:
            self._trace.add(f"process {self.number}", "is killed")
            self.is_up = False
            self.crashed = self.disk.is_dead = self._own_model.is_dead = True
            self._scope.cancel()

    async def stop(self) -> None:
        """End in order, and wait for that."""
        self.is_up = False
        self._ends.set()
        await self.over.wait()

    async def _work(self, call: Call) -> ToolResult:
        """The runtime's own tool."""
        faults = self._faults
        await anyio.sleep(self._model.chance.uniform(0, 0.5))
        call.progress("working")
        if faults.strikes("slow", "a tool"):
            await anyio.sleep(faults.between(1, 60))
        if faults.strikes("raise", "a tool"):
            raise RuntimeError("a bug in a tool")
        return ToolResult("worked")
