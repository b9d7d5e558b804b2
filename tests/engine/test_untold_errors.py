"""A log that takes nothing holds no error either: who comes later hears of what nobody heard."""

import errno
import os
from pathlib import Path

import pytest

from tests.engine.harness import Recorder, options, running, say
from turnwright.protocol.events.session import SessionError
from turnwright.providers.scripted import Scripted, text
from turnwright.store.disk import Disk
from turnwright.store.jsonl import JsonlStore

pytestmark = pytest.mark.anyio


class Filling(Disk):
    """A disk that is full while it is said to be."""

    is_full = False

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.is_full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(fd, data)


async def test_a_message_that_the_disk_did_not_take_while_nobody_was_there_is_told_at_the_next_resume(
    tmp_path: Path,
) -> None:
    disk = Filling()
    store = JsonlStore(tmp_path / "session-state", disk)
    async with running(Scripted([text("there is room again")]), tmp_path, store) as runtime:
        gone = Recorder()
        session = await runtime.create(options(tmp_path, session_id="s"), gone)
        session.clients.detach(gone)
        disk.is_full = True
        say(session, "lost")
        waiter = Recorder()
        session.journal.subscribers.append(lambda event: waiter.publish("s", event))
        await waiter.until("session.idle")
        disk.is_full = False
        client = Recorder()
        for told in (1, 0):
            client.events.clear()
            await runtime.resume("s", options(tmp_path), client)
            errors = [e.data for e in client.events if isinstance(e.data, SessionError)]
            assert [error.error_type for error in errors] == ["store"] * told
        say(session, "again")
        await client.until("session.idle")
        assert client.count("assistant.turn_end") == 1
