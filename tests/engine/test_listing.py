"""What all clients are told of a session: how it stands, once for all that happens at one moment."""

import errno
from itertools import groupby
from pathlib import Path

import anyio.lowlevel
import pytest

from tests.engine.harness import Recorder, options, running, say
from turnwright.engine.lifecycle.summary import Lifecycle
from turnwright.errors import StoreError
from turnwright.providers.scripted import Scripted, text
from turnwright.store.disk import Disk
from turnwright.store.jsonl import JsonlStore

pytestmark = pytest.mark.anyio


async def test_news_is_in_order_and_fewer_than_the_events_and_the_last_is_how_the_session_stands(
    tmp_path: Path,
) -> None:
    news: list[Lifecycle] = []
    async with running(Scripted([text("4")]), tmp_path) as runtime:
        runtime.lifecycle.append(news.append)
        client = Recorder()
        session = await runtime.create(options(tmp_path, session_id="s"), client)
        say(session, "2+2")
        await client.until("session.idle")
        events = [event for event in client.events if not event.ephemeral]
        await runtime.delete("s")
    types = [each.type for each in news]
    assert [type for type, _ in groupby(types)] == ["session.created", "session.updated", "session.deleted"]
    assert types.count("session.updated") < len(events)
    assert news[-2].metadata == news[-1].metadata
    assert news[-1].metadata.summary == "2+2"


class FullAfterOne(Disk):
    """A disk with room for one event."""

    _writes = 0

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._writes += 1
        if self._writes > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(fd, data)


async def test_nothing_is_told_of_a_session_that_could_not_be_begun(tmp_path: Path) -> None:
    news: list[Lifecycle] = []
    store = JsonlStore(tmp_path / "session-state", FullAfterOne())
    async with running(Scripted([]), tmp_path, store) as runtime:
        runtime.lifecycle.append(news.append)
        with pytest.raises(StoreError):
            await runtime.create(options(tmp_path, session_id="s", mode="plan"), Recorder())
        await anyio.lowlevel.checkpoint()
    assert news == []
    assert store.ids() == []
