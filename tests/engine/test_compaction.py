"""Conversations that grow too long give way to a summary, and go on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from tests.cases.scene import Scene, scene
from tests.engine.harness import answer_everything, app_tools, say
from tests.engine.talk import LONG, SUMMARY, Conversation, Talker, is_summary
from tests.store.steps import as_told
from turnwright.engine.compaction import INSTRUCTIONS
from turnwright.engine.own_words import fit
from turnwright.engine.prompts.prompt import log_user_message
from turnwright.errors import ProviderError
from turnwright.protocol.envelope import parse
from turnwright.protocol.events.compaction import CompactionComplete, CompactionStart
from turnwright.protocol.events.conversation import AssistantMessage, TurnEnd, TurnStart
from turnwright.protocol.messages import Message, Reply, ToolOutput, Usage, User
from turnwright.protocol.options import InfiniteSessions, SystemMessageOptions
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import Scripted, calls, check_history, text
from turnwright.server.methods.history import CompactParams, compact
from turnwright.store.history import PROMPTS_START, SUMMARY_START, History
from turnwright.store.load import load

pytestmark = pytest.mark.anyio


def starts(at: Scene) -> int:
    return len(at.all(TurnStart))


async def test_a_window_that_fills_up_is_summarised_and_the_conversation_goes_on(tmp_path: Path) -> None:
    model = Talker()
    async with Conversation(tmp_path, model, 5000) as at:
        for number in range(8):
            await at.prompt(f"prompt {number}")
        await at.client.until("session.compaction_complete")
        first = at.all(CompactionComplete)[0]
        assert first.success
        assert first.summary_content == SUMMARY
        assert first.trigger == "threshold"
        assert (first.tokens_removed or 0) > 1000
        assert model.problems == []
        assert all(sum(len(m.content) for m in r.messages) < 5000 * 4 for r in model.requests)
        assert SUMMARY in at.session.journal.history.messages[0].content
        assert starts(at) == len(at.all(TurnEnd)) == len(model.requests)
        assert len(at.all(AssistantMessage)) == 8
        path = Path(str(first.checkpoint_path))
        assert (path.name, path.read_text()) == ("001-the-long-road.md", SUMMARY)


async def test_the_summary_is_a_turn_of_its_own_agent_and_replay_gives_the_same_history(
    tmp_path: Path,
) -> None:
    model = Talker()
    conversation = Conversation(tmp_path, model, 5000)
    async with conversation as at:
        for number in range(6):
            await at.prompt(f"prompt {number}")
        await at.client.until("session.compaction_complete")
        agents = {e.agent_id for e in at.client.events if isinstance(e.data, TurnStart | TurnEnd)}
        assert agents == {None, "compaction"}
        replayed = History()
        for line in conversation.store.logs[at.session.id].lines:
            replayed.apply(parse(line))
        assert replayed.messages == at.session.journal.history.messages
        assert replayed.size == at.session.journal.history.size


async def test_the_run_goes_on_while_the_summary_is_written_in_the_background(tmp_path: Path) -> None:
    model = Talker()
    model.gate = anyio.Event()
    limits = InfiniteSessions(True, 0.3, 0.99)
    async with Conversation(tmp_path, model, 10_000, infinite_sessions=limits) as at:
        for number in range(5):
            await at.prompt(f"prompt {number}")
        assert at.client.count("session.compaction_start") == 1
        assert at.client.count("session.compaction_complete") == 0
        model.gate.set()
        await at.client.until("session.compaction_complete")
        kept = at.session.journal.history.messages
        assert SUMMARY in kept[0].content
        assert kept[-2].content.endswith("prompt 4")
        await at.prompt("go on")
        assert model.problems == []


async def test_a_cut_never_parts_a_call_from_its_result(tmp_path: Path) -> None:
    """B41"""
    two = calls(("a", "ok", "{}"), ("b", "ok", "{}"))
    model = Talker(first=[two])
    async with Conversation(tmp_path, model, 100_000, tools=app_tools("ok")) as at:
        client = at.client
        client.on_event = lambda event: None
        say(at.session, "go")
        await client.until("external_tool.requested", 2)
        done = await at.session.compaction.run("manual")
        assert done is not None
        assert done.messages_removed == 1
        at.session.abort()
        await client.until("session.idle")
        await at.session.compaction.run("manual")
        client.on_event = answer_everything(at.session)
        await at.prompt("and now?")
        assert model.problems == []
        assert not any(isinstance(m, ToolOutput) for m in at.session.journal.history.messages)


class Streamer(Talker):
    """Says when the reply to the prompt "stream" is half said, and ends it when a test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_half_said, self.may_end = anyio.Event(), anyio.Event()

    async def respond(self, request: ModelRequest, progress: Any) -> Reply:
        last = request.messages[-1]
        if not is_summary(request) and isinstance(last, User) and last.content.endswith("stream"):
            await progress.ready()
            progress.sent()
            progress.text("half of")
            self.is_half_said.set()
            await self.may_end.wait()
        return await super().respond(request, progress)

    def say_next(self, tokens: int) -> None:
        """Let the next reply be so long."""
        self.steps.append(text(LONG[:4] * tokens))


@pytest.mark.parametrize("starts_by_itself", [True, False], ids=["by threshold too", "by hand alone"])
async def test_a_summary_that_is_wished_while_a_reply_streams_near_the_limit_is_the_only_one(
    tmp_path: Path, starts_by_itself: bool
) -> None:
    """B42"""
    model = Streamer()
    limits = InfiniteSessions(True, 0.8 if starts_by_itself else 0.99, 0.995)
    async with Conversation(tmp_path, model, 100_000, infinite_sessions=limits) as at:
        await at.prompt("hi")
        sizes = at.session.context_sizes()
        model.say_next(round(0.9 * sizes.limit) - sizes.total)
        await at.prompt("fill it")
        sizes = at.session.context_sizes()
        assert 0.89 < sizes.total / sizes.limit < 0.91
        assert at.client.count("session.compaction_start") == 0
        model.gate = anyio.Event()
        say(at.session, "stream")
        with anyio.fail_after(20):
            await model.is_half_said.wait()

        async def wish() -> None:
            await compact(at.session, CompactParams(at.session.id))

        async with anyio.create_task_group() as group:
            group.start_soon(wish)
            await at.client.until("session.compaction_start")
            model.gate.set()
        model.may_end.set()
        await at.client.until("session.idle", 3)
        await at.prompt("and now?")
        triggers = [start.trigger for start in at.all(CompactionStart)]
        assert triggers == ["threshold" if starts_by_itself else "manual"]
        assert [(done.success, done.error) for done in at.all(CompactionComplete)] == [(True, None)]
        assert (at.client.count("session.error"), model.problems) == (0, [])


async def test_two_wishes_for_a_summary_are_one_summary(tmp_path: Path) -> None:
    model = Talker()
    async with Conversation(tmp_path, model, 100_000) as at:
        await at.prompt("go")
        model.gate = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(at.session.compaction.run, "manual")
            group.start_soon(at.session.compaction.run, "manual")
            await at.client.until("session.compaction_start")
            model.gate.set()
        assert len(at.all(CompactionStart)) == len(at.all(CompactionComplete)) == 1


async def test_a_window_that_the_prompt_alone_fills_is_not_summarised_for_ever(tmp_path: Path) -> None:
    """B38"""
    model = Talker(reply="short")
    async with Conversation(tmp_path, model, 200) as at:
        for number in range(6):
            await at.prompt(f"prompt {number}")
        assert len(at.all(CompactionComplete)) <= 1
        assert at.client.count("session.error") == 0


async def test_a_run_with_tools_under_a_prompt_that_nearly_fills_the_window_is_summarised_once_at_most(
    tmp_path: Path,
) -> None:
    """B38: a window of 1000 tokens, a system prompt of 900, a threshold of 0.8."""
    model = Talker(first=[calls(("a", "ok", "{}")), text("done")])
    limits = InfiniteSessions(background_compaction_threshold=0.8)
    prompt = SystemMessageOptions("replace", "x" * 3600)
    tools = app_tools("ok")
    async with Conversation(
        tmp_path,
        model,
        1000,
        system_message=prompt,
        tools=tools,
        available_tools=["ok"],
        infinite_sessions=limits,
    ) as at:
        await at.prompt("go")
        sizes = at.session.context_sizes()
        assert sizes.system >= 900
        assert len(at.all(CompactionStart)) <= 1
        assert at.client.count("session.error") == 0
        assert at.all(AssistantMessage)[-1].content == "done"


async def test_a_request_that_is_too_long_is_summarised_once_and_sent_again(tmp_path: Path) -> None:
    too_long = ProviderError("the prompt is too long", kind="context_limit", status=400)
    model = Talker(first=[text("one"), too_long])
    async with Conversation(tmp_path, model, 100_000) as at:
        await at.prompt("first")
        await at.prompt("second")
        assert [done.trigger for done in at.all(CompactionComplete)] == ["context_limit"]
        assert at.client.count("session.error") == 0
        assert starts(at) == len(model.requests) == 4


async def test_what_stays_too_long_is_an_error_after_one_attempt(tmp_path: Path) -> None:
    too_long = ProviderError("the prompt is too long", kind="context_limit", status=400)
    model = Talker(first=[text("one"), too_long, too_long])
    async with Conversation(tmp_path, model, 100_000) as at:
        await at.prompt("first")
        await at.prompt("second")
        assert len(at.all(CompactionComplete)) == 1
        assert at.client.types[-3:] == ["session.error", "assistant.idle", "session.idle"]


async def test_a_summary_that_fails_changes_nothing(tmp_path: Path) -> None:
    async with scene(tmp_path, [text("one"), ProviderError("no", status=500)]) as at:
        await at.prompt("go")
        before = list(at.session.journal.history.messages)
        done = await at.session.compaction.run("manual")
        assert done is not None
        assert (done.success, done.error) == (False, "no")
        assert at.session.journal.history.messages == before


async def test_nothing_is_summarised_when_the_app_does_not_want_it(tmp_path: Path) -> None:
    model = Talker()
    async with Conversation(tmp_path, model, 3000, infinite_sessions=InfiniteSessions(False)) as at:
        for number in range(6):
            await at.prompt(f"prompt {number}")
        assert at.client.count("session.compaction_start") == 0


async def test_a_long_conversation_with_tools_stays_valid_through_many_summaries(tmp_path: Path) -> None:
    class Worker(Talker):
        """Every third reply is an answer, the others call a tool; the model counts what it was sent."""

        turns = 0

        async def respond(self, request: ModelRequest, progress: Any) -> Reply:
            if is_summary(request):
                return await super().respond(request, progress)
            self.turns += 1
            wanted = self.turns % 3
            self.steps.insert(0, calls((f"c{self.turns}", "ok", "{}")) if wanted else text(LONG))
            self.requests_checked(request.messages)
            return await Scripted.respond(self, request, progress)

        def requests_checked(self, messages: Sequence[Message]) -> None:
            assert check_history(messages) == []

    model = Worker()
    conversation = Conversation(tmp_path, model, 6000, tools=app_tools("ok"))
    async with conversation as at:
        for number in range(60):
            await at.prompt(f"prompt {number}")
        while at.session.compaction.is_running:
            await anyio.lowlevel.checkpoint()
        assert model.turns == 180
        summaries = len(at.all(CompactionComplete))
        assert summaries > 5
        assert starts(at) == len(model.requests)
        assert model.problems == []
        log = conversation.store.logs[at.session.id]
        kinds = [parse(line).type for line in log.lines]
        records = [place for place, kind in enumerate(kinds) if kind == "session.state_record"]
        assert len(records) == summaries
        assert {kinds[place - 1] for place in records} == {"session.compaction_complete"}
        whole = load(log)
        for place in range(1, records[-2] - 1):  # what nobody may look at
            log.lines[place] = b"?" * len(log.lines[place])
        from_record = load(log, decoded_whole=-1)
        assert from_record.damage is None
        assert as_told(from_record.state, from_record.history) == as_told(whole.state, whole.history)


async def test_what_the_user_wrote_stands_beside_every_summary_and_the_runtimes_own_words_do_not(
    tmp_path: Path,
) -> None:
    model = Talker()
    async with Conversation(tmp_path, model, 100_000) as at:
        at.client.handlers["hooks.invoke"] = lambda params: {}
        await at.prompt("Name the files.")
        await at.session.compaction.run("manual")
        log_user_message(at.session, "Not good enough.", source="hook", delivery="idle")
        await at.prompt("  Now the folders. ")
        await at.session.compaction.run("manual")
        assert at.session.journal.history.messages == [
            User(
                f"{SUMMARY_START}\n\n{PROMPTS_START}\n"
                "<user_message>\nName the files.\n</user_message>\n"
                "<user_message>\nNow the folders.\n</user_message>\n\n"
                f"Here is a summary of the prior context:\n<summary>\n{SUMMARY}\n</summary>"
            )
        ]


async def test_what_a_summary_used_is_estimated_where_the_server_counts_nothing(tmp_path: Path) -> None:
    class Uncounted(Talker):
        async def respond(self, request: ModelRequest, progress: Any) -> Reply:
            return msgspec.structs.replace(await super().respond(request, progress), usage=Usage())

    async with Conversation(tmp_path, Uncounted(), 100_000) as at:
        await at.prompt("go")
        done = await at.session.compaction.run("manual")
        assert done is not None
        assert {**done.compaction_tokens_used, "duration": 0} == {
            "model": "m",
            "inputTokens": at.all(CompactionStart)[0].current_tokens + len(INSTRUCTIONS) // 4,
            "outputTokens": len(SUMMARY) // 4,
            "cacheReadTokens": 0,
            "cacheWriteTokens": 0,
            "duration": 0,
        }


def test_the_first_message_and_the_last_ones_are_kept_and_a_long_one_loses_its_middle() -> None:
    assert fit([], 100) == []
    assert fit(["first", "second", "third"], 100) == ["first", "second", "third"]
    assert fit(["first", "second", "third"], 11) == ["f\n[... 3 characters left out ...]\nt"]
    assert fit(["first", "a" * 30, "b" * 10, "c" * 10], 40) == [
        "first",
        "b" * 10,
        "c" * 10,
    ]
