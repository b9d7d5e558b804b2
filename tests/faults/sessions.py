"""The sessions in which a runtime is killed."""

from collections.abc import Callable
from contextlib import suppress

import anyio

from turnwright import Client, InfiniteSessions, Invocation, UserAnswer, UserQuestion, approve_all, tool
from turnwright.client.config import SessionConfig
from turnwright.errors import SessionFailed
from turnwright.providers.scripted import calls, text
from turnwright.testing.crash import SESSION, Scenario


@tool(skip_permission=True)
async def look(name: str) -> str:
    """Look something up."""
    return f"{name} is fine: ✓"


@tool(skip_permission=True)
async def hang() -> str:
    """Never return."""
    await anyio.sleep_forever()
    return ""


async def answer(question: UserQuestion, invocation: Invocation) -> UserAnswer:
    """What the user says to every question."""
    return UserAnswer("the second")


async def two_prompts(client: Client, options: SessionConfig) -> None:
    """Send two messages, and wait for the answer to each."""
    async with await client.create_session(session_id=SESSION, **options) as session:
        await session.send_and_wait("Go.")
        await session.send_and_wait("Once more.")


async def abort_and_go_on(client: Client, options: SessionConfig) -> None:
    """Abort the run in a call that doesn't return, then send a message."""
    async with await client.create_session(session_id=SESSION, **options) as session:
        session.on("external_tool.requested", lambda event: session.abort())
        with suppress(SessionFailed):  # the run was aborted
            await session.send_and_wait("Go.")
        await session.send_and_wait("Once more.")


def config(**options: object) -> Callable[[], SessionConfig]:
    """Options, made anew for each process."""
    return lambda: SessionConfig(**options)  # pyright: ignore[reportArgumentType]


PARALLEL = Scenario(
    "parallel calls",
    lambda: [
        calls(("1", "look", '{"name": "a"}'), ("2", "view", '{"path": "."}'), ("3", "look", '{"name": "c"}')),
        text("one"),
        text("two"),
    ],
    two_prompts,
    config(tools=[look]),
)
PERMISSION = Scenario(
    "permission",
    lambda: [calls(("1", "create", '{"path": "new", "file_text": "x"}')), text("one"), text("two")],
    two_prompts,
    config(on_permission=approve_all),
)
COMPACTION = Scenario(
    "compaction",
    lambda: [
        calls(("1", "look", '{"name": "a"}')),
        text("<overview>a was looked up</overview>"),
        text("one"),
        text("two"),
        text("three"),
    ],
    two_prompts,
    config(
        tools=[look],
        infinite_sessions=InfiniteSessions(
            background_compaction_threshold=0.000_1, buffer_exhaustion_threshold=0.000_1
        ),
    ),
)
QUESTION = Scenario(
    "question",
    lambda: [calls(("1", "ask_user", '{"question": "Which?"}')), text("one"), text("two")],
    two_prompts,
    config(on_user_input=answer),
)
ABORT = Scenario(
    "abort",
    lambda: [calls(("1", "look", '{"name": "a"}'), ("2", "hang", "{}")), text("two")],
    abort_and_go_on,
    config(tools=[look, hang]),
)
SCENARIOS = (PARALLEL, PERMISSION, COMPACTION, QUESTION, ABORT)
