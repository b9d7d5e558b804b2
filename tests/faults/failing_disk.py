"""The n-th operation on the disk fails, for every n of a short session: nothing is lost or half-written."""

import errno
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from tests.cases.local_tool import LocalTool
from tests.engine.harness import Recorder, options, running, say
from turnwright.engine.runtime import Runtime
from turnwright.engine.session import Session
from turnwright.errors import StoreError
from turnwright.protocol.events.session import SessionError
from turnwright.providers.scripted import Scripted, Step, calls, text
from turnwright.store.audit import audit
from turnwright.store.disk import Disk
from turnwright.store.jsonl import LOG_NAME, JsonlStore

T = TypeVar("T")

SHORT = 0
FAULTS = {
    "ENOSPC": errno.ENOSPC,
    "EIO": errno.EIO,
    "EMFILE": errno.EMFILE,
    "EACCES": errno.EACCES,
    "short write": SHORT,
}
ATTEMPTS = 5


class FailingDisk(Disk):
    """Counts what is done, and fails at the operations from `first` on, `count` of them.

    With SHORT for an error, a write takes half of what it is given before it says that there is no room.
    """

    def __init__(self, error: int, first: int, count: int = 1) -> None:
        self.done = 0
        self.failed = 0
        self._error = error
        self._failing = range(first, first + count)

    def mend(self) -> None:
        """Fail no more."""
        self._failing = range(0)

    def open(self, path: Path, flags: int) -> int:
        self._may_fail()
        return super().open(path, flags)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self._error == SHORT and self.done in self._failing:
            self.done += 1
            os.write(fd, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._may_fail()
        return super().write(fd, data)

    def truncate(self, fd: int, size: int) -> None:
        self._may_fail()
        super().truncate(fd, size)

    def sync(self, fd: int) -> None:
        self._may_fail()
        super().sync(fd)

    def replace(self, source: Path, target: Path) -> None:
        self._may_fail()
        super().replace(source, target)

    def make_folder(self, path: Path) -> None:
        self._may_fail()
        super().make_folder(path)

    def _may_fail(self) -> None:
        operation, self.done = self.done, self.done + 1
        if operation in self._failing:
            self.failed += 1
            error = self._error or errno.ENOSPC
            raise OSError(error, os.strerror(error))


class Outcome(NamedTuple):
    """What became of one session; `faults` says what shouldn't have happened, and is empty."""

    operations: int
    errors: int
    faults: list[str]


async def go_through(home: Path, disk: FailingDisk) -> Outcome:
    """A session with two parallel calls and a resume, on such a disk; who is refused tries again."""
    model, client, faults = Scripted(script()), Recorder(), list[str]()
    store = JsonlStore(home / "session-state", disk)
    tools = [LocalTool("ok")]
    async with running(model, home, store, tools=tools) as runtime:
        session = await insist(lambda: runtime.create(options(home, session_id="s"), client))
        await prompt(session, client, "go")
        await prompt(session, client, "on")
        await unload(runtime)
        session = await insist(lambda: runtime.resume("s", options(home), client))
        await prompt(session, client, "again")
        await prompt(session, client, "and now")
        live = session.journal.state.last_id
        if session.journal.events()[-1].id != live:
            faults.append("the state is not the log's")
        await unload(runtime)
        disk.mend()
        await runtime.resume("s", options(home), client)
        await runtime.unload("s")
    lines = (home / "session-state" / "s" / LOG_NAME).read_bytes().splitlines(keepends=True)
    seen = [event.encoded + b"\n" for event in client.persisted]
    if [line for line in seen if line in set(lines)] != seen:
        faults.append("a client saw what the log has lost")
    faults += [f"line {f.line}: {f.text}" for f in audit(lines).findings if f.broken]
    faults += model.problems
    errors = [event for event in client.events if isinstance(event.data, SessionError)]
    faults += [str(event) for event in errors if not event.ephemeral]
    return Outcome(disk.done, len(errors), faults)


def script() -> list[Step]:
    steps: list[Step] = []
    for turn in range(12):
        steps += [calls((f"{turn}a", "ok", "{}"), (f"{turn}b", "ok", "{}")), text(f"done {turn}")]
    return steps


async def prompt(session: Session, client: Recorder, said: str) -> None:
    """Send a message, again where the log could not be read for it, and wait for the idle after it."""
    idles = client.count("session.idle")

    async def send() -> str:
        return say(session, said)

    await insist(send)
    await client.until("session.idle", idles + 1)
    if client.types[-1] != "session.idle":
        raise AssertionError(f"{client.types[-1]} came after idle")


async def unload(runtime: Runtime) -> None:
    try:
        await runtime.unload("s")
    except StoreError:
        assert "s" not in runtime.sessions


async def insist(act: Callable[[], Awaitable[T]]) -> T:
    """Do something again until the disk lets it be done; what it refuses the last time is raised."""
    for _ in range(ATTEMPTS):
        with suppress(StoreError):
            return await act()
    return await act()
