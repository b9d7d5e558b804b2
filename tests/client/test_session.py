"""Sessions over the SDK, with a scripted model and a runtime in this process."""

from pathlib import Path

import anyio
import pytest

from tests.client.runtimes import Gate, Heard, in_process
from turnwright import (
    Client,
    ConfigError,
    CustomAgent,
    InvalidParams,
    ProviderOptions,
    Session,
    SessionFailed,
    SessionNotFound,
    SystemMessageOptions,
    TurnwrightError,
)
from turnwright.errors import ProviderError
from turnwright.protocol.events.agents import SubagentSelected
from turnwright.protocol.messages import User
from turnwright.protocol.prices import Prices
from turnwright.providers.scripted import Scripted, text
from turnwright.testing.answers import Say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio


def prompts(model: Scripted) -> list[list[str]]:
    """What the user had said in each request, without the date that goes before it."""
    return [
        [m.content.rpartition("\n\n")[2] for m in request.messages if isinstance(m, User)]
        for request in model.requests
    ]


async def test_a_prompt_gives_its_reply(tmp_path: Path) -> None:
    async with (
        in_process(Scripted([text("four")]), tmp_path) as client,
        await client.create_session() as session,
    ):
        reply = await session.send_and_wait("2 + 2?")
        logged = await session.get_events()
    assert reply.data.content == "four"
    assert reply.id == next(event.id for event in logged if event.type == "assistant.message")


async def test_an_agent_of_the_app_answers(tmp_path: Path) -> None:
    model = Scripted([text("arr")])
    agent = CustomAgent("pirate", "Say arr.", tools=["view"])
    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(custom_agents=[agent], agent="pirate") as session,
    ):
        await session.send_and_wait("Hello")
        logged = await session.get_events()
    assert model.requests[0].system.endswith("Say arr.\n</agent_instructions>")
    assert SubagentSelected("pirate", "pirate", ["view"]) in [event.data for event in logged]


async def test_concurrent_prompts_each_get_their_own_reply(tmp_path: Path) -> None:
    first = Gate(text("a"))
    model = Scripted([first, text("b"), text("c")])
    replies: dict[str, str] = {}

    async def ask(session: Session, prompt: str) -> None:
        replies[prompt] = (await session.send_and_wait(prompt)).data.content

    async with (
        in_process(model, tmp_path) as client,
        await client.create_session() as session,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(ask, session, "first")
        await first.reached.wait()
        heard = Heard(session)
        tasks.start_soon(ask, session, "second")
        tasks.start_soon(ask, session, "third")
        await heard.until("pending_messages.modified", 2)
        first.opened.set()
    assert replies == {"first": "a", "second": "b", "third": "c"}


async def test_a_failed_run_raises_what_went_wrong_and_the_next_one_works(tmp_path: Path) -> None:
    model = Scripted([ProviderError("no credit left", kind="quota"), text("fine")])
    async with in_process(model, tmp_path) as client, await client.create_session() as session:
        with pytest.raises(SessionFailed, match="no credit left") as caught:
            await session.send_and_wait("go")
        reply = await session.send_and_wait("again")
    assert caught.value.error_type == "quota"
    assert reply.data.content == "fine"


async def test_a_timeout_ends_the_wait_and_not_the_agent(tmp_path: Path) -> None:
    """B04: the caller's timeout always fires."""
    gate = Gate(text("late"))
    async with (
        in_process(Scripted([gate, text("next")]), tmp_path) as client,
        await client.create_session() as session,
    ):
        heard = Heard(session)
        with pytest.raises(TimeoutError):
            await session.send_and_wait("go", timeout=0.05)
        gate.opened.set()
        await heard.until("session.idle")
        said = [event.data for event in heard.events if event.type == "assistant.message"]
        assert [getattr(data, "content", None) for data in said] == ["late"]
        assert (await session.send_and_wait("go on")).data.content == "next"


async def test_an_abort_ends_the_wait_as_aborted(tmp_path: Path) -> None:
    """B93."""
    gate = Gate(text("never"))
    caught: list[SessionFailed] = []

    async def ask(session: Session) -> None:
        with pytest.raises(SessionFailed) as raised:
            await session.send_and_wait("go")
        caught.append(raised.value)

    async with (
        in_process(Scripted([gate, text("after")]), tmp_path) as client,
        await client.create_session() as session,
    ):
        heard = Heard(session)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, session)
            await gate.reached.wait()
            await session.abort()
        assert getattr((await heard.until("session.idle")).data, "aborted", None) is True
        assert [failure.error_type for failure in caught] == ["aborted"]
        assert (await session.send_and_wait("go on")).data.content == "after"


async def test_steering_reaches_the_running_prompt_or_becomes_the_next(tmp_path: Path) -> None:
    """B84."""
    gate = Gate(text("first"))
    model = Scripted([gate, text("steered")])
    async with in_process(model, tmp_path) as client, await client.create_session() as session:
        heard = Heard(session)
        await session.send("go")
        await gate.reached.wait()
        steering = await session.send("left", mode="immediate")
        gate.opened.set()
        await heard.until("session.idle")
        logged = await session.get_events()
    assert prompts(model) == [["go"], ["go", "left"]]
    assert steering in [getattr(event.data, "message_id", None) for event in logged]


async def test_a_resumed_session_answers_in_order(tmp_path: Path) -> None:
    """B08."""
    model = Scripted([text("first"), text("second")])
    async with in_process(model, tmp_path) as client, await client.create_session() as session:
        await session.send_and_wait("one")
    async with (
        in_process(model, tmp_path) as client,
        await client.resume_session(session.id) as resumed,
    ):
        heard = Heard(resumed)
        reply = await resumed.send_and_wait("two")
    assert reply.data.content == "second"
    wanted = (
        "user.message",
        "assistant.turn_start",
        "assistant.message",
        "assistant.turn_end",
        "session.idle",
    )
    assert [type for type in heard.types if type in wanted] == list(wanted)
    assert prompts(model) == [["one"], ["one", "two"]]


async def test_resuming_an_open_session_gives_the_same_one_and_each_event_once(tmp_path: Path) -> None:
    """B87."""
    async with (
        in_process(Scripted([text("hi")]), tmp_path) as client,
        await client.create_session() as session,
    ):
        heard = Heard(session)
        again = [await client.resume_session(session.id) for _ in range(3)]
        await session.send_and_wait("go")
        ids = [event.id for event in heard.events]
    assert all(resumed is session for resumed in again)
    assert len(ids) == len(set(ids))


async def test_resuming_what_is_not_there_leaves_nothing_behind(tmp_path: Path) -> None:
    """B102."""
    async with in_process(Scripted(), tmp_path) as client:
        with pytest.raises(SessionNotFound, match="Session not found: nothing"):
            await client.resume_session("nothing")
        with pytest.raises(SessionNotFound):
            await client.delete_session("nothing")
        assert await client.list_sessions() == []
    assert not (tmp_path / "session-state" / "nothing").exists()


async def test_sessions_are_listed_named_and_deleted(tmp_path: Path) -> None:
    model = Scripted([text("a"), text("b")])
    async with in_process(model, tmp_path) as client:
        async with await client.create_session(session_id="one", client_name="tests") as session:
            await session.send_and_wait("go")
            await session.set_name("The first")
        async with await client.create_session(session_id="two") as session:
            await session.send_and_wait("go away")
        listed = await client.list_sessions()
        assert [(s.session_id, s.summary, s.client_name) for s in listed] == [
            ("two", "go away", None),
            ("one", "The first", "tests"),
        ]
        await client.delete_session("one")
        assert [s.session_id for s in await client.list_sessions()] == ["two"]


async def test_mode_and_model_hold_from_the_next_call_on(tmp_path: Path) -> None:
    model = Scripted([text("a"), text("b")])
    async with in_process(model, tmp_path) as client, await client.create_session(mode="plan") as session:
        assert session.mode == "plan"
        await session.send_and_wait("go")
        await session.set_mode("interactive")
        await session.set_model("bigger", reasoning_effort="high")
        assert session.mode == "interactive"
        await session.send_and_wait("go on")
        resumed = await client.resume_session(session.id)
        assert resumed.mode == "interactive"
    assert [(r.model, r.reasoning_effort) for r in model.requests] == [("scripted", None), ("bigger", "high")]


async def test_options_reach_the_runtime(tmp_path: Path) -> None:
    model = Scripted([text("a")])
    folder = tmp_path / "work"
    folder.mkdir()
    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(
            model="other",
            working_directory=folder,
            system_message=SystemMessageOptions("replace", "Be brief."),
            available_tools=["view"],
        ) as session,
    ):
        await session.send_and_wait("go")
        (info,) = await client.list_sessions()
    (request,) = model.requests
    assert (request.model, request.system) == ("other", "Be brief.")
    assert [tool.name for tool in request.tools] == ["view"]
    assert info.context is not None
    assert info.context.cwd == str(folder)
    assert session.workspace_path == str(tmp_path / "session-state" / session.id)


async def test_a_text_as_system_message_is_appended(tmp_path: Path) -> None:
    model = Scripted([text("a")])
    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(system_message="Speak in rhymes.") as session,
    ):
        await session.send_and_wait("go")
    assert "Speak in rhymes." in model.requests[0].system
    assert not model.requests[0].system.startswith("Speak")


async def test_a_session_can_be_disconnected_twice_and_not_used_after(tmp_path: Path) -> None:
    async with in_process(Scripted(), tmp_path) as client:
        session = await client.create_session()
        await session.disconnect()
        await session.disconnect()
        with pytest.raises(SessionNotFound):
            await session.send("go")


async def test_an_error_of_the_app_comes_out_of_the_client_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with in_process(Scripted(), tmp_path) as client, await client.create_session():
            _ = 1 / 0


async def test_closing_the_client_ends_what_runs(tmp_path: Path) -> None:
    gate = Gate(text("never"))
    async with in_process(Scripted([gate]), tmp_path) as client:
        session = await client.create_session()
        await session.send("go")
        await gate.reached.wait()
    log = (tmp_path / "session-state" / session.id / "events.jsonl").read_text("utf-8")
    assert log.count('"assistant.turn_start"') == log.count('"assistant.turn_end"') == 1
    assert '"session.shutdown"' in log.splitlines()[-1]


async def test_ping_comes_back(tmp_path: Path) -> None:
    async with in_process(Scripted(), tmp_path) as client:
        assert (await client.ping("hello")).message == "pong: hello"


async def test_wrong_options_are_refused_by_name(tmp_path: Path) -> None:
    async with in_process(Scripted(), tmp_path) as client:
        with pytest.raises(InvalidParams, match="hooks: there is no field `pre_tool`; there are: pre_"):
            await client.create_session(hooks={"pre_tool": None})  # pyright: ignore[reportArgumentType]
        with pytest.raises(InvalidParams, match="options: there is no field `modl`; there are: model, "):
            await client.create_session(modl="big")  # pyright: ignore[reportCallIssue]
        async with await client.create_session(session_id="one"):
            with pytest.raises(InvalidParams, match="session_id: one is open already"):
                await client.create_session(session_id="one")


def test_places_for_a_runtime_exclude_each_other() -> None:
    with pytest.raises(ConfigError, match="command and address"):
        Client(command=["turnwright"], address="localhost:1")
    with pytest.raises(ConfigError, match="home"):
        Client(address="localhost:1", home="there")
    with pytest.raises(ConfigError, match="environment"):
        Client(environment={"A": "b"})
    with pytest.raises(ConfigError, match="provider"):
        Client(address="localhost:1", provider=Scripted())


async def test_a_client_works_inside_its_context_alone() -> None:
    with pytest.raises(TurnwrightError, match="async with"):
        await Client(provider=ProviderOptions("http://localhost:1")).ping()


async def test_a_session_tells_its_tokens_and_money_by_model(tmp_path: Path) -> None:
    prices = Prices(input=1.0, output=2.0)
    async with (
        ChatServer([Say("four"), Say("five")]) as server,
        Client(
            provider=ProviderOptions(server.base_url, model_id="priced", prices=prices), home=tmp_path
        ) as client,
        await client.create_session() as session,
    ):
        with anyio.fail_after(20):
            await session.send_and_wait("2 + 2?")
            await session.send_and_wait("2 + 3?")
            found = await session.usage()
    (used,) = found.model_metrics.values()
    assert used.requests.count == 2
    assert used.usage.input_tokens > 0
    assert found.cost == pytest.approx((used.usage.input_tokens + 2 * used.usage.output_tokens) / 1e6)
