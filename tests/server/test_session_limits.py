"""Limits over the wire: what can't be is refused, they outlive a resume, and can be changed."""

from pathlib import Path

import pytest

from tests.cases.wired import Server, WireClient, serving
from tests.server.sessions import prompted, started
from turnwright.errors import RequestFailed
from turnwright.protocol.events.conversation import UserMessage
from turnwright.providers.scripted import text

pytestmark = pytest.mark.anyio


async def limits_of(client: WireClient, session: str) -> object:
    snapshot = await client.call("session.metadata.snapshot", sessionId=session)
    return snapshot["sessionLimits"]


def was_told(server: Server) -> list[str]:
    """What the model was told of limits with its last request, shortened to the amounts."""
    texts = [message.content for message in server.model.requests[-1].messages]
    found = [text.partition("limits: ")[2] for text in texts if "<session_limits_status>" in text]
    return [text.partition(".")[0] for text in found]


async def test_limits_of_a_session_hold_after_a_resume_that_says_nothing_of_them(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("one"), text("two")]) as server:
        client = server.connect()
        session = await started(client, tmp_path, sessionLimits={"maxAiCredits": 30})
        await prompted(client, session, "first")
        await client.call("session.destroy", sessionId=session)
        await client.call("session.resume", sessionId=session)
        assert await limits_of(client, session) == {"maxAiCredits": 30}
        await prompted(client, session, "second")
        assert was_told(server) == ["30 AI credits", "30 AI credits"]


async def test_limits_can_be_set_by_a_resume_changed_and_lifted(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("one"), text("two")]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await client.call("session.resume", sessionId=session, sessionLimits={"maxAiCredits": 7.5})
        assert await limits_of(client, session) == {"maxAiCredits": 7.5}
        update = "session.options.update"
        await client.call(update, sessionId=session, sessionLimits={"maxAiCredits": 9})
        await client.call(update, sessionId=session, clientName="another")
        await prompted(client, session, "first")
        assert was_told(server) == ["9 AI credits"]
        await client.call(update, sessionId=session, sessionLimits=None)
        await prompted(client, session, "second")
        assert was_told(server) == ["9 AI credits"]
        changed = [event for event in client.events if event.type == "session.session_limits_changed"]
        assert len(changed) == 2
        assert await limits_of(client, session) is None
        assert [e.data.source for e in server.logged(session) if isinstance(e.data, UserMessage)] == [
            None,
            "session_limits",
            None,
        ]


@pytest.mark.parametrize(
    ("response", "fault"),
    [
        ({"action": "more"}, "response.action"),
        ({"action": "add"}, "response.additionalAiCredits: must be more than 0 for the action 'add'"),
        ({"action": "add", "additionalAiCredits": -1}, "response.additionalAiCredits"),
        ({"action": "set"}, "response.maxAiCredits: is needed for the action 'set'"),
    ],
)
async def test_an_answer_that_cannot_be_is_refused_by_its_field(
    tmp_path: Path, response: dict[str, object], fault: str
) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        method = "session.ui.handlePendingSessionLimitsExhausted"
        with pytest.raises(RequestFailed, match=fault):
            await client.call(method, sessionId=session, requestId="any", response=response)
        gone = await client.call(method, sessionId=session, requestId="any", response={"action": "cancel"})
        assert gone == {"success": False}


async def test_a_limit_below_nothing_is_refused_and_no_session_is_made(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        with pytest.raises(RequestFailed, match=r"sessionLimits\.maxAiCredits"):
            await started(client, tmp_path, sessionLimits={"maxAiCredits": -1})
        assert (await client.call("session.list"))["sessions"] == []
