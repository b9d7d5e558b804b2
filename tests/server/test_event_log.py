"""Reading a session's events instead of being sent them."""

from pathlib import Path

import anyio
import pytest

from tests.cases.wired import WireClient, serving
from tests.server.sessions import prompted, started
from turnwright.protocol.wire import Json
from turnwright.providers.scripted import text

pytestmark = pytest.mark.anyio


async def read(client: WireClient, session: str, **params: object) -> Json:
    """A page of the session's events."""
    return await client.call("session.eventLog.read", sessionId=session, **params)


def types(page: Json) -> list[str]:
    """The types of a page's events."""
    return [event["type"] for event in page["events"]]


async def test_pages_follow_each_other_without_gap_or_repeat(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("one")]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await client.call("session.eventLog.tail", sessionId=session)
        await prompted(client, session, "go")
        whole = await read(client, session)
        ids = [event["id"] for event in whole["events"]]
        assert ids == [event.id for event in client.events]
        paged: list[str] = []
        cursor, more = None, True
        while more:
            page = await read(client, session, max=3, **({"cursor": cursor} if cursor else {}))
            paged += [event["id"] for event in page["events"]]
            cursor, more = page["cursor"], page["hasMore"]
        assert paged == ids
        assert (whole["cursorStatus"], whole["hasMore"]) == ("ok", False)


async def test_pages_backward_hold_what_is_logged_the_newest_first(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("one")]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "go")
        logged = [event.id for event in server.logged(session)]
        paged: list[str] = []
        cursor, more = None, True
        while more:
            page = await read(
                client, session, max=2, direction="backward", **({"cursor": cursor} if cursor else {})
            )
            paged = [*(event["id"] for event in page["events"]), *paged]
            cursor, more = page["cursor"], page["hasMore"]
        assert paged == logged


async def test_a_reader_waits_at_the_end_for_the_events_it_wants_also_ephemeral_ones(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        tail = await client.call("session.eventLog.tail", sessionId=session)
        assert types(await read(client, session, cursor=tail["cursor"])) == []
        pages: list[Json] = []

        async def wait() -> None:
            wanted = {"types": ["session.title_changed"], "waitMs": 20_000}
            pages.append(await read(client, session, cursor=tail["cursor"], **wanted))

        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(wait)
                await client.call("session.name.set", sessionId=session, name="Named")
        assert [event["data"] for event in pages[0]["events"]] == [{"title": "Named"}]


async def test_a_cursor_into_what_was_truncated_is_expired_and_begins_anew(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("one")]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "go")
        tail = await client.call("session.eventLog.tail", sessionId=session)
        second = server.logged(session)[1].id
        await client.call("session.history.truncate", sessionId=session, eventId=second)
        page = await read(client, session, cursor=tail["cursor"], includeEphemeral=False)
        assert (page["cursorStatus"], types(page)) == ("expired", ["session.start"])


async def test_an_interest_can_be_released_twice(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        handle = (
            await client.call(
                "session.eventLog.registerInterest", sessionId=session, eventType="command.queued"
            )
        )["handle"]
        for _ in range(2):
            released = await client.call("session.eventLog.releaseInterest", sessionId=session, handle=handle)
            assert released == {"success": True}
