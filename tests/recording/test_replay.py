"""Recordings out of logs: what is replayed is what was said, and the first difference is named."""

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.cases.local_tool import LocalTool
from tests.cases.scene import Scene, scene
from tests.engine.harness import Recorder, answer_everything, app_tools, say
from turnwright.errors import ProviderError
from turnwright.protocol import wire
from turnwright.protocol.messages import Reply
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import Scripted, Step, calls, text
from turnwright.recording import form
from turnwright.recording.form import Recording, as_lines, as_text
from turnwright.recording.from_log import recording_of
from turnwright.recording.places import Places
from turnwright.recording.replay import Plan, Replayed, replay
from turnwright.server.settings import Settings

pytestmark = pytest.mark.anyio

Course = Callable[[Scene], Awaitable[None]]


def prompts(*texts: str) -> Course:
    """Say these things, each once the session is idle."""

    async def run(scene: Scene) -> None:
        for said in texts:
            await scene.prompt(said)

    return run


async def recorded(tmp_path: Path, script: Iterable[Step], course: Course, **options: Any) -> Recording:
    """The recording of a session that took that course."""
    tools = [LocalTool("look")]
    async with scene(tmp_path, script, machine=tools, **options) as a_scene:
        a_scene.client.on_event = answer_everything(a_scene.session, "ok")
        await course(a_scene)
        events = a_scene.session.journal.events()
        places = Places(folder=tmp_path, session_id=a_scene.session.id)
    return recording_of(events, places)


async def again(recording: Recording, tmp_path: Path, **settings: object) -> Replayed:
    """What a replay in another home comes to."""
    plan = Plan(recording=recording, folder=tmp_path)
    return await replay(msgspec.structs.replace(plan, **settings), Settings(tmp_path / "replayed"))


def failed(retryable: bool) -> ProviderError:
    return ProviderError("busy", status=503, retryable=retryable, retry_after=0.0)


async def steer(scene: Scene) -> None:
    async def and_more(request: ModelRequest) -> Reply:
        say(scene.session, "and that", immediate=True)
        return calls(("a", "look", "{}"))

    scene.model.steps.insert(0, and_more)
    await scene.prompt("look")


async def abort(scene: Scene) -> None:
    async def stop(request: ModelRequest) -> Reply:
        scene.session.abort()
        return text("too late")

    scene.model.steps.insert(0, stop)
    await scene.prompt("go")
    await scene.prompt("go on")


COURSES: dict[str, tuple[list[Step], Course, dict[str, object]]] = {
    "two prompts": ([text("one"), text("two\nlines\n")], prompts("1", "2"), {}),
    "calls": (
        [calls(("a", "look", '{"at": "{x}"}'), ("b", "nothing", "{"), content="I look."), text("done")],
        prompts("go"),
        {},
    ),
    "an app's tool": (
        [calls(("a", "mine", "{}")), text("done")],
        prompts("go"),
        {"tools": app_tools("mine")},
    ),
    "a retry": ([failed(True), text("at last")], prompts("go"), {}),
    "a failure": ([failed(False), text("now")], prompts("go", "again"), {}),
    "an empty reply": ([text(""), text("here")], prompts("go"), {}),
    "steering": ([text("both")], steer, {}),
    "an abort": ([text("gone on")], abort, {}),
    "autopilot": (
        [text("I think"), calls(("a", "task_complete", '{"summary": "All."}'))],
        prompts("go"),
        {"mode": "autopilot"},
    ),
}


@pytest.mark.parametrize("course", COURSES)
async def test_a_session_is_replayed_as_it_was(tmp_path: Path, course: str) -> None:
    script, run, options = COURSES[course]
    recording = await recorded(tmp_path, script, run, **options)
    replayed = await again(recording, tmp_path)
    assert replayed.difference is None
    assert replayed.requests == len(recording.exchanges) >= 2


async def test_the_first_difference_is_named_by_request_and_message_with_its_lines(tmp_path: Path) -> None:
    script: list[Step] = [calls(("a", "look", "{}")), text("done")]
    recording = await recorded(tmp_path, script, prompts("go"))
    recording.exchanges[1].messages[0].result = ["one\n", "two\n"]
    recorded_results = await again(recording, tmp_path)
    of_tools = await again(recording, tmp_path, tools="run")
    assert recorded_results.difference is None
    assert of_tools.requests == 1
    assert str(of_tools.difference).splitlines() == [
        "request 2, new message 1 (result of a):",
        "--- recorded",
        "+++ now",
        "@@ -1,3 +1,2 @@",
        " [result of a]",
        "-one",
        "-two",
        "+Tool 'look' does not exist.",
    ]


async def test_another_system_prompt_is_a_difference_unless_the_recorded_one_is_kept(tmp_path: Path) -> None:
    recording = await recorded(tmp_path, [text("one")], prompts("1"))
    (tmp_path / "AGENTS.md").write_text("Be kind.")
    changed = await again(recording, tmp_path)
    kept = await again(recording, tmp_path, keep_system=True)
    assert changed.difference is not None
    assert changed.difference.where == "system prompt"
    assert any("Be kind." in line for line in changed.difference.lines)
    assert (kept.difference, kept.requests) == (None, 1)


async def test_a_request_that_is_missing_or_too_many_is_a_difference(tmp_path: Path) -> None:
    recording = await recorded(tmp_path, [calls(("a", "look", "{}")), text("two")], prompts("1"))
    shorter = msgspec.structs.replace(recording, exchanges=recording.exchanges[:1])
    silent = msgspec.convert(wire.builtins(recording), Recording)
    assert silent.exchanges[0].reply is not None
    silent.exchanges[0].reply.calls = ()
    silent.exchanges[0].reply.text = "Nothing to do."
    assert str((await again(shorter, tmp_path)).difference).startswith("request 2, there is no request 2")
    assert str((await again(silent, tmp_path)).difference).startswith(
        "request 2, which was recorded, did not"
    )


@pytest.mark.parametrize("fork", [1, 2, 3])
async def test_another_model_goes_on_from_a_request_with_the_history_of_the_recording(
    tmp_path: Path, fork: int
) -> None:
    script: list[Step] = [calls(("a", "look", "{}")), text("done"), text("bye")]
    recording = await recorded(tmp_path, script, prompts("1", "2"))
    other = Scripted([text("another way")])
    replayed = await again(recording, tmp_path, fork=fork, then=other, model="other")
    assert (replayed.difference, replayed.requests, replayed.answer) == (None, fork - 1, "another way")
    assert [len(request.messages) for request in other.requests] == [(1, 3, 5)[fork - 1]]
    assert [request.model for request in other.requests] == ["other"]
    assert other.problems == []


async def test_folders_ids_times_and_keys_stay_out_of_a_recording_and_come_back_in_a_replay(
    tmp_path: Path,
) -> None:
    key = "sk-" + "a1b2c3d4" * 4
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    script = [calls(("a", "look", wire.encode({"path": f"{there}/x"}).decode())), text(f"It is in {there}.")]
    recording = await recorded(there, script, prompts(f"My key is {key}, look at {there}/x."))
    written = wire.encode(recording).decode()
    assert (str(there) in written, key in written, "current_datetime" in written) == (False, False, False)
    assert recording.exchanges[0].messages[0].user == "My key is ******, look at {{folder}}/x."
    replayed = await again(recording, here)
    assert (replayed.difference, replayed.answer) == (None, f"It is in {here}.")


def test_texts_are_lists_of_lines_and_come_back_as_they_were() -> None:
    for whole in ("", "one", "one\n", "one\ntwo", "\n\none\r\ntwo\u2028three\n", "a\x85b\n\n"):
        assert as_text(as_lines(whole)) == whole
    assert as_lines("one\ntwo") == ["one\n", "two"]


async def test_a_recording_is_read_as_it_was_written_and_a_wrong_one_is_refused_by_the_field(
    tmp_path: Path,
) -> None:
    recording = await recorded(tmp_path, [text("one\ntwo")], prompts("1"))
    form.write(recording, tmp_path / "a.json")
    assert form.read(tmp_path / "a.json") == recording
    assert '          "one\\n",\n' in (tmp_path / "a.json").read_text("utf-8")
    (tmp_path / "b.json").write_text('{"turnwright": 1, "model": "m", "exchanges": [{"messages": 3}]}')
    with pytest.raises(form.StoreError, match=r"b.json is no recording: exchanges\[0\].messages: "):
        form.read(tmp_path / "b.json")


async def test_a_log_that_a_client_has_seen_is_recorded_the_same_from_its_events(tmp_path: Path) -> None:
    client = Recorder()
    async with scene(tmp_path, [text("one"), text("two")], client=client) as a_scene:
        await a_scene.prompt("1")
        await a_scene.prompt("2")
        places = Places(folder=tmp_path, session_id=a_scene.session.id)
        seen = recording_of(client.persisted, places)
        assert seen == recording_of(a_scene.session.journal.events(), places)
    assert [each.mode for each in seen.exchanges] == ["interactive", "interactive"]
