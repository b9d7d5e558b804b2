"""What is kept of files for a rewind: how much, for how long, and for whom."""

import os
from pathlib import Path

import pytest

from tests.cases.scene import Scene
from tests.engine.harness import Recorder, options, running
from tests.engine.test_rewind import back, creates, edits, last_point, tracked
from turnwright.engine.rewind import kept_files
from turnwright.engine.rewind.kept_files import KeptFiles, NotKept
from turnwright.engine.rewind.rewind import rewind, rewind_points
from turnwright.protocol.rewind import SkippedFile
from turnwright.providers.scripted import Scripted, text
from turnwright.store.jsonl import JsonlStore
from turnwright.tools.builtin import machine_tools

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("limit", ["FILE_LIMIT", "total"])
async def test_what_is_too_large_to_be_kept_is_edited_and_told(
    tmp_path: Path, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "big").write_text("x" * 100)
    async with tracked(tmp_path, [edits("big", "x" * 100, "y"), text("done")]) as at:
        if limit == "total":
            at.session.capture.kept = KeptFiles(at.session.folder, limit=99)
        else:
            monkeypatch.setattr(kept_files, limit, 99)
        await at.prompt("edit")
        (point,) = rewind_points(at.session).points
        assert (point.can_restore_files, point.file_count) == (False, 1)
        done = await back(at, point.event_id)
        assert done.skipped_files == [SkippedFile(str(tmp_path / "big"), "skipped-capture")]
        assert (tmp_path / "big").read_text() == "y"


def test_a_content_is_kept_once_and_only_as_it_was(tmp_path: Path) -> None:
    kept = KeptFiles(tmp_path)
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    kept.keep(b"x", digest)
    kept.keep(b"x", digest)
    assert [path.name for path in kept.folder.iterdir()] == [digest]
    assert kept.has(digest)
    (kept.folder / digest).write_bytes(b"y")
    assert not kept.has(digest)
    kept.folder.chmod(0o500)
    if os.geteuid():
        with pytest.raises(NotKept, match="it can't be kept: "):
            kept.keep(b"z", "f" * 64)
    kept.folder.chmod(0o700)


async def test_tracking_goes_on_after_a_resume_and_begins_only_before_the_first_prompt(
    tmp_path: Path,
) -> None:
    store = JsonlStore(tmp_path / "session-state")
    model = Scripted([creates("a", "x"), text("done"), text("hello")])
    client = Recorder()
    plain = options(tmp_path, allow_tools=["write"])
    tracks = options(tmp_path, allow_tools=["write"], enable_file_change_tracking=True)
    async with running(model, tmp_path, store, tools=machine_tools()) as runtime:
        late = await runtime.create(options(tmp_path, session_id="late"), client)
        await runtime.unload("late")
        late = await runtime.resume("late", tracks, client)
        assert late.journal.state.tracks_files
        await Scene(runtime, late, client, model).prompt("write")
        await runtime.unload("late")
        late = await runtime.resume("late", plain, client)
        (point,) = rewind_points(late).points
        assert (await rewind(late, point.event_id, "conversation-and-files")).restored_files == [
            str(tmp_path / "a")
        ]

        never = await runtime.create(options(tmp_path, session_id="never"), client)
        await Scene(runtime, never, client, model).prompt("hi")
        await runtime.unload("never")
        never = await runtime.resume("never", tracks, client)
        assert not never.journal.state.tracks_files


async def test_a_fork_keeps_what_its_own_points_need(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    (tmp_path / "b").write_text("one")
    script = [edits("a", "one", "two"), text("done"), edits("b", "one", "two"), text("done")]
    async with tracked(tmp_path, script) as at:
        await at.prompt("first")
        await at.prompt("second")
        second = last_point(at)
        entry = at.runtime.fork(at.session.id, before=second)
        given = options(tmp_path, session_id=entry.session_id)
        copy = await at.runtime.resume(entry.session_id, given, Recorder())
        (point,) = rewind_points(copy).points
        assert len(list((copy.folder / "kept").iterdir())) == 1
        assert (await rewind(copy, point.event_id, "conversation-and-files")).restored_files == [
            str(tmp_path / "a")
        ]
        assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("one", "two")
        again = await back(at, second)
        assert again.restored_files == [str(tmp_path / "b")]
