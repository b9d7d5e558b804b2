"""Forms: one client asks, any client that shows forms answers."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cases.wired import WireClient, serving
from tests.server.sessions import asked, started
from turnwright.errors import RequestFailed
from turnwright.protocol.events.commands import CapabilitiesChanged, UiCapabilities
from turnwright.protocol.events.questions import ElicitationCompleted
from turnwright.protocol.wire import Json

pytestmark = pytest.mark.anyio

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"port": {"type": "integer"}}}


async def ask(client: WireClient, session: str, answers: list[Json]) -> None:
    """Show a form and keep what becomes of it."""
    params = {"sessionId": session, "message": "Which port?", "requestedSchema": SCHEMA}
    answers.append(await client.call("session.ui.elicitation", **params))


@pytest.mark.parametrize(
    "form",
    [{"action": "accept", "content": {"port": 8080}}, {"action": "decline"}, {"action": "cancel"}],
    ids=lambda form: form["action"],
)
async def test_the_first_answer_to_a_form_counts_and_all_clients_see_it(
    tmp_path: Path, form: dict[str, Any]
) -> None:
    async with serving(tmp_path) as server:
        client, other = server.connect(), server.connect()
        session = await started(client, tmp_path, requestElicitation=True)
        await other.call("session.resume", sessionId=session, requestElicitation=True)
        answers: list[Json] = []
        settled: list[Json] = []
        async with anyio.create_task_group() as group:
            group.start_soon(ask, client, session, answers)
            shown = await asked(other, "elicitation.requested")
            request_id = str(shown.pop("requestId"))
            assert shown == {"message": "Which port?", "requestedSchema": SCHEMA}
            for who, result in ((other, form), (client, {"action": "cancel"})):
                answer = {"sessionId": session, "requestId": request_id, "result": result}
                settled.append(await who.call("session.ui.handlePendingElicitation", **answer))
        assert settled == [{"success": True}, {"success": False}]
        assert answers == [form]
        for who in (client, other):
            done = [event.data for event in who.events if isinstance(event.data, ElicitationCompleted)]
            assert [(data.action, data.content) for data in done] == [(form["action"], form.get("content"))]


async def test_without_a_client_that_shows_forms_there_is_an_error(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        with pytest.raises(RequestFailed, match="Elicitation is not supported"):
            await ask(client, session, [])
        assert "elicitation.requested" not in client.types


async def test_a_form_is_put_away_when_the_client_that_shows_it_leaves(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client, other = server.connect(), server.connect()
        session = await started(client, tmp_path)
        opened = await other.call("session.resume", sessionId=session, requestElicitation=True)
        assert opened["capabilities"]["ui"]["elicitation"] is True
        answers: list[Json] = []
        async with anyio.create_task_group() as group:
            group.start_soon(ask, client, session, answers)
            await other.until("elicitation.requested")
            other.peer.close()
        assert answers == [{"action": "cancel"}]
        told = [event.data for event in client.events if isinstance(event.data, CapabilitiesChanged)]
        assert told == [CapabilitiesChanged(UiCapabilities(able)) for able in (True, False)]
