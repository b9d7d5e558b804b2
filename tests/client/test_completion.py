"""Which events end a wait, and with what."""

from collections.abc import Callable, Iterable

import anyio
import pytest

from turnwright import ConnectionClosed, SessionFailed
from turnwright.client.completion import Completion, disconnected
from turnwright.protocol.envelope import Event, seal
from turnwright.protocol.events import Data
from turnwright.protocol.events.conversation import AssistantMessage, TurnStart, UserMessage
from turnwright.protocol.events.session import Abort, Idle, SessionError, Shutdown

pytestmark = pytest.mark.anyio

OURS = UserMessage("ours", message_id="1", delivery="idle")
OURS_AFTER_A_WAIT = UserMessage("ours", message_id="1", delivery="queued")
ANOTHER = UserMessage("another", message_id="2", delivery="queued")
NUDGE = UserMessage("", message_id="3", delivery="idle", is_autopilot_continuation=True)
TURN = TurnStart("0")
IDLE = Idle()


def said(text: str) -> AssistantMessage:
    return AssistantMessage("m", text, [])


def sealed(payloads: Iterable[Data]) -> list[Event]:
    return [seal(payload, parent_id=None) for payload in payloads]


def followed(*payloads: Data, early: Iterable[Data] = ()) -> Completion:
    """A wait that has seen `early` before it knew its message's id, and the rest after."""
    completion = Completion()
    for event in sealed(early):
        completion.take(event)
    completion.begin("1")
    for event in sealed(payloads):
        completion.take(event)
    return completion


async def outcome(completion: Completion) -> str:
    """The reply's text, or the error's type."""
    try:
        with anyio.fail_after(1):
            return (await completion.reply()).data.content
    except SessionFailed as failure:
        return f"failed: {failure.error_type}"


@pytest.mark.parametrize(
    ("payloads", "expected"),
    [
        ([OURS, TURN, said("a"), TURN, said("b"), IDLE], "b"),
        ([OURS, said("a"), NUDGE, TURN, said("b"), IDLE], "b"),
        ([OURS, said("a"), ANOTHER, TURN, said("c"), IDLE], "a"),
        ([ANOTHER, TURN, said("c"), OURS_AFTER_A_WAIT, said("a"), IDLE], "a"),
        ([ANOTHER, SessionError("query", "no"), OURS_AFTER_A_WAIT, TURN, said("a"), IDLE], "a"),
        ([OURS, said("a"), ANOTHER, SessionError("query", "no"), IDLE], "a"),
        ([OURS, SessionError("notification", "of the app"), TURN, said("a"), IDLE], "a"),
        ([OURS, TURN, said("a"), SessionError("query", "no"), IDLE], "failed: query"),
        ([OURS, SessionError("query", "no"), ANOTHER, said("c"), IDLE], "failed: query"),
        ([SessionError("store", "disk full"), IDLE], "failed: store"),
        ([OURS, said("a"), Abort("user_initiated"), Idle(aborted=True)], "failed: aborted"),
        ([OURS, Abort("user_initiated"), ANOTHER, said("c"), IDLE], "failed: aborted"),
        ([Abort("user_initiated"), OURS, Idle(aborted=True)], "failed: aborted"),
        ([OURS, said("a"), ANOTHER, Abort("user_initiated"), Idle(aborted=True)], "a"),
        ([OURS, TURN, IDLE], "failed: no_reply"),
    ],
)
async def test_a_wait_ends_with_what_its_own_run_gave(payloads: list[Data], expected: str) -> None:
    assert await outcome(followed(*payloads)) == expected


async def test_an_idle_of_an_earlier_prompt_is_not_ours() -> None:
    """B08."""
    completion = followed(OURS, TURN, said("ours"), IDLE, early=[said("earlier"), IDLE])
    assert await outcome(completion) == "ours"


async def test_the_whole_run_may_come_before_the_id_of_its_message() -> None:
    assert await outcome(followed(early=[IDLE, OURS, TURN, said("ours"), IDLE])) == "ours"


async def test_a_sub_agents_events_are_not_the_reply() -> None:
    completion = followed(OURS, TURN, said("ours"))
    completion.take(seal(said("of a sub-agent"), parent_id=None, agent_id="sub"))
    completion.take(seal(SessionError("query", "no"), parent_id=None, agent_id="sub"))
    completion.take(seal(IDLE, parent_id=None))
    assert await outcome(completion) == "ours"


def shut_down(completion: Completion) -> None:
    completion.take(seal(Shutdown("routine", 0, 0, 0, None, {}), parent_id=None))  # pyright: ignore[reportArgumentType]


def lose(completion: Completion) -> None:
    completion.fail(disconnected())


@pytest.mark.parametrize(("end", "error"), [(shut_down, SessionFailed), (lose, ConnectionClosed)])
async def test_a_wait_ends_when_the_session_does(
    end: Callable[[Completion], None], error: type[Exception]
) -> None:
    completion = followed(OURS)
    end(completion)
    with anyio.fail_after(1), pytest.raises(error):
        await completion.reply()
