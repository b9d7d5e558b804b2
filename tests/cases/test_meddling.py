"""A program that empties, replaces or writes a log under a live session: it is told, and nothing is lost."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases.local_tool import LocalTool
from tests.cases.scene import Scene, scene
from tests.engine.harness import Recorder, options, running, say
from tests.store.steps import as_told
from turnwright.protocol.envelope import seal
from turnwright.protocol.events.conversation import UserMessage
from turnwright.protocol.events.session import SessionError, Warned
from turnwright.protocol.messages import User
from turnwright.providers.scripted import Scripted, calls, text
from turnwright.store.audit import audit
from turnwright.store.jsonl import LOG_NAME, JsonlStore
from turnwright.store.load import load
from turnwright.testing.strict_model import StrictModel

pytestmark = pytest.mark.anyio


def log_of(at: Scene, store: JsonlStore) -> Path:
    return store.folder(at.session.id) / LOG_NAME


def warnings(at: Scene) -> list[str]:
    return [warned.message for warned in at.all(Warned) if warned.warning_type == "log_changed"]


def faults(file: Path) -> list[str]:
    return [f.text for f in audit(file.read_bytes().splitlines(keepends=True)).findings if f.broken]


@pytest.mark.parametrize("left", [0, 1, 0.7], ids=["emptied", "all but the start", "the end"])
async def test_a_log_that_is_cut_between_runs_gets_back_what_was_said(tmp_path: Path, left: float) -> None:
    store = JsonlStore(tmp_path / "session-state")
    script = [text("It is Paris."), text("About two million."), text("Yes.")]
    async with scene(tmp_path, StrictModel(script[:2]), store=store) as at:
        await at.prompt("Which is the capital?")
        file = log_of(at, store)
        data = file.read_bytes()
        os.truncate(file, data.index(b"\n") + 1 if left == 1 else int(len(data) * left))
        await at.prompt("How many live there?")
        assert len(warnings(at)) == 1
        session_id = at.session.id
        said = at.session.journal.history.messages
    asked = "\n".join(str(message.content) for message in said if isinstance(message, User))
    assert "Which is the capital?" in asked
    assert "It is Paris." in asked
    assert faults(file) == []
    client, model = Recorder(), StrictModel(script[2:])
    async with running(model, tmp_path, store) as runtime:
        session = await runtime.resume(session_id, options(tmp_path), client)
        assert session.journal.history.messages == said
        assert session.journal.state.start is not None


async def test_a_log_that_is_emptied_in_a_run_ends_it_with_an_error_and_the_next_goes_on(
    tmp_path: Path,
) -> None:
    store = JsonlStore(tmp_path / "session-state")
    script = [text("It is Paris."), calls(("1", "ok", "{}")), text("Once more: yes.")]
    model = StrictModel(script)
    async with scene(tmp_path, model, store=store, machine=[LocalTool("ok")]) as at:
        await at.prompt("Which is the capital?")
        file = log_of(at, store)
        at.client.on_event = emptying(file, "tool.execution_start")
        await at.prompt("Look.")
        errors = at.all(SessionError)
        assert [error.error_type for error in errors] == ["store"]
        assert "Another program cut the session's log" in errors[0].message
        at.client.on_event = lambda event: None
        await at.prompt("Again?")
        assert len(warnings(at)) == 1
        assert at.client.types[-1] == "session.idle"
        said = at.session.journal.history.messages
    assert model.problems == []
    assert "It is Paris." in str(said[0].content)
    assert faults(file) == []


def emptying(file: Path, at_event: str) -> Callable[[object], None]:
    """Empty a file when an event of a type comes."""

    def hear(event: object) -> None:
        if getattr(event, "type", "") == at_event:
            os.truncate(file, 0)

    return hear


async def test_a_log_that_is_replaced_in_a_run_is_put_back_and_the_run_goes_on(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "session-state")
    script = [calls(("1", "ok", "{}")), text("Done.")]
    async with scene(tmp_path, script, store=store, machine=[LocalTool("ok")]) as at:
        file = log_of(at, store)

        def replace(event: object) -> None:
            if getattr(event, "type", "") == "tool.execution_start":
                (tmp_path / "other").write_bytes(b"something else\n")
                (tmp_path / "other").rename(file)

        at.client.on_event = replace
        await at.prompt("Look.")
        assert len(warnings(at)) == 1
        assert at.all(SessionError) == []
    assert faults(file) == []
    assert file.with_name("events.jsonl.replaced").read_bytes() == b"something else\n"


async def test_what_was_written_into_a_log_in_a_run_is_not_forgotten_with_a_summary(tmp_path: Path) -> None:
    store, client = JsonlStore(tmp_path / "session-state"), Recorder()
    script = [calls(("1", "ok", "{}")), text("Done."), text("A summary."), text("Welcome.")]
    async with running(Scripted(script), tmp_path, store, tools=[LocalTool("ok")]) as runtime:
        session = await runtime.create(options(tmp_path), client)
        file = store.folder(session.id) / LOG_NAME

        def write(event: object) -> None:
            if getattr(event, "type", "") == "tool.execution_start":
                with file.open("ab") as log:
                    log.write(seal(UserMessage("I am here too."), parent_id=None).encoded + b"\n")

        client.on_event = write
        say(session, "Look.")
        await client.until("session.idle")
        await session.compaction.run("manual")
        say(session, "Hello!")
        await client.until("session.idle", 2)
    log = store.open(session.id)
    whole, as_long = load(log), load(log, decoded_whole=-1)
    log.close()
    assert as_told(as_long.state, as_long.history) == as_told(whole.state, whole.history)
    assert as_long.state.prompts == len(["Look.", "I am here too.", "Hello!"])
