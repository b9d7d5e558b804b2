"""Going back to an earlier prompt: files are what they were, and nothing of anybody else's is lost."""

import os
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cases.scene import Scene, scene, turns, words
from turnwright.engine.rewind.kept_files import KeptFiles
from turnwright.engine.rewind.rewind import preview, rewind, rewind_points
from turnwright.errors import InvalidParams, StoreError
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.files import FileCaptured
from turnwright.protocol.messages import Reply
from turnwright.protocol.rewind import (
    FilePreview,
    RewindMode,
    RewindPoint,
    RewindPreview,
    RewindResult,
    SkippedFile,
)
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import Step, calls, text
from turnwright.store.base import EventStore
from turnwright.store.memory import MemoryLog, MemoryStore
from turnwright.tools.builtin import machine_tools

pytestmark = pytest.mark.anyio


def does(*asked: tuple[str, dict[str, Any]]) -> Reply:
    """A reply that asks for these calls."""
    return calls(*((wire.new_id(), name, wire.encode(given).decode()) for name, given in asked))


def creates(path: str, content: str) -> Reply:
    return does(("create", {"path": path, "file_text": content}))


def edits(path: str, old: str, new: str) -> Reply:
    return does(("edit", {"path": path, "old_str": old, "new_str": new}))


def tracked(
    tmp_path: Path, script: Iterable[Step], *, tracks: bool | None = True, store: EventStore | None = None
) -> AbstractAsyncContextManager[Scene]:
    """A scene whose session keeps track of files and asks nobody."""
    return scene(
        tmp_path,
        script,
        store=store,
        machine=machine_tools(),
        environment={"PATH": os.environ["PATH"]},
        allow_tools=["write", "shell"],
        enable_file_change_tracking=tracks,
    )


async def back(
    at: Scene, event_id: str, mode: RewindMode = "conversation-and-files", *, overwrite: bool = False
) -> RewindResult:
    """Go back, and forget the model's requests whose turns went, as the scene compares them in the end."""
    done = await rewind(at.session, event_id, mode, overwrite_modified=overwrite)
    del at.model.requests[turns(at.session.journal.events()) :]
    return done


def last_point(at: Scene) -> str:
    return rewind_points(at.session).points[-1].event_id


async def test_each_prompt_is_a_point_that_tells_what_was_changed_since(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    script = [
        edits("a.txt", "one", "two"),
        creates("b.txt", "1\n2\n"),
        text("done"),
        text("nothing to do"),
        edits("a.txt", "two", "three\nfour"),
        text("done"),
    ]
    async with tracked(tmp_path, script) as at:
        for prompt in ("first", "second", "third"):
            await at.prompt(prompt)
        told = rewind_points(at.session)
        assert (told.file_change_tracking_enabled, told.unavailable_reason) == (True, None)
        ids = [point.event_id for point in told.points]
        times = [point.timestamp for point in told.points]
        assert told.points == [
            RewindPoint(ids[0], "first", times[0], True, 2, True, 3, 1, False),
            RewindPoint(ids[1], "second", times[1], True, 1, False, 0, 0, False),
            RewindPoint(ids[2], "third", times[2], True, 1, True, 2, 1, False),
        ]
        assert await preview(at.session, ids[0]) == RewindPreview(
            True,
            2,
            [
                FilePreview(str(tmp_path / "a.txt"), "modified", 3, 2),
                FilePreview(str(tmp_path / "b.txt"), "created", 2, 0),
            ],
        )


async def test_a_rewind_puts_files_and_conversation_back(tmp_path: Path) -> None:
    old = tmp_path / "old.sh"
    old.write_bytes(b"one\r\n\xff\n")
    old.chmod(0o750)
    script = [
        text("hello"),
        edits("old.sh", "one", "two"),
        creates("sub/ü 🙂.txt", "new"),
        edits("sub/ü 🙂.txt", "new", "newer"),
        text("done"),
        text("again"),
    ]
    async with tracked(tmp_path, script) as at:
        await at.prompt("hi")
        await at.prompt("change it")
        old.chmod(0o600)
        before = len(at.session.journal.events())
        done = await back(at, last_point(at))
        left = at.session.journal.events()
        files = [str(old), str(tmp_path / "sub/ü 🙂.txt")]
        assert done == RewindResult("success", files, [], events_removed=before - len(left))
        assert (old.read_bytes(), old.stat().st_mode & 0o777) == (b"one\r\n\xff\n", 0o750)
        assert not (tmp_path / "sub/ü 🙂.txt").exists()
        assert not list((at.session.folder / "kept").iterdir())
        await at.prompt("what now")
        assert words(at.model.requests[-1]) == ["hi", "what now"]
        assert len(at.session.journal.events()) > len(left)


async def test_a_conversation_alone_can_go_back(tmp_path: Path) -> None:
    async with tracked(tmp_path, [creates("a.txt", "x"), text("done")]) as at:
        await at.prompt("write")
        done = await back(at, last_point(at), "conversation")
        assert (done.outcome, done.restored_files) == ("success", [])
        assert (tmp_path / "a.txt").read_text() == "x"
        assert rewind_points(at.session).points == []


async def test_what_others_have_changed_since_is_told_and_left_alone(tmp_path: Path) -> None:
    for name in ("edited", "deleted", "between", "folder"):
        (tmp_path / name).write_text("one")
    script = [
        does(*(("edit", {"path": name, "old_str": "one", "new_str": "two"}) for name in FOUR)),
        text("done"),
        edits("between", "2", "three"),
        creates("new", "x"),
        text("done"),
    ]
    async with tracked(tmp_path, script) as at:
        await at.prompt("edit")
        (tmp_path / "edited").write_text("mine")
        (tmp_path / "deleted").unlink()
        (tmp_path / "between").write_text("mine, 2")
        (tmp_path / "folder").unlink()
        (tmp_path / "folder").mkdir()
        await at.prompt("edit again")
        (tmp_path / "new").unlink()
        first = rewind_points(at.session).points[0].event_id
        skipped = [
            SkippedFile(str(tmp_path / name), "user-modified") for name in ("between", "edited", "folder")
        ]
        restored = [FilePreview(str(tmp_path / "deleted"), "deleted", 1, 1)]
        assert await preview(at.session, first) == RewindPreview(True, 1, restored, skipped_files=skipped)
        done = await back(at, first)
        assert (done.outcome, done.restored_files, done.skipped_files) == (
            "success",
            [str(tmp_path / "deleted")],
            skipped,
        )
        contents = {name: (tmp_path / name).read_text() for name in ("edited", "deleted", "between")}
        assert contents == {"edited": "mine", "deleted": "one", "between": "mine, three"}
        assert (tmp_path / "folder").is_dir()


MODES: tuple[RewindMode, ...] = ("conversation", "conversation-and-files")
FOUR = ("edited", "deleted", "between", "folder")


async def test_what_others_have_changed_is_put_back_when_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    async with tracked(tmp_path, [edits("a", "one", "two"), text("done")]) as at:
        await at.prompt("edit")
        (tmp_path / "a").write_text("mine")
        done = await back(at, last_point(at), overwrite=True)
        assert (done.restored_files, done.skipped_files) == ([str(tmp_path / "a")], [])
        assert (tmp_path / "a").read_text() == "one"


async def test_a_link_in_a_files_place_is_never_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    async with tracked(tmp_path, [creates("a", "x"), text("done")]) as at:
        await at.prompt("write")
        (tmp_path / "a").unlink()
        (tmp_path / "a").symlink_to(outside)
        done = await back(at, last_point(at), overwrite=True)
        assert done.skipped_files == [SkippedFile(str(tmp_path / "a"), "user-modified")]
        assert outside.read_text() == "mine"


async def test_a_preview_names_the_tools_that_nobody_keeps_track_of(tmp_path: Path) -> None:
    script = [
        does(("bash", {"command": "echo x >made"}), ("view", {"path": "."})),
        creates("a", "x"),
        text("done"),
    ]
    async with tracked(tmp_path, script) as at:
        await at.prompt("run")
        assert (await preview(at.session, last_point(at))).untracked_tools == ["bash"]
        await back(at, last_point(at))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "state"]


async def test_a_change_that_failed_is_nobody_elses(tmp_path: Path) -> None:
    """A tool's word that it is about to change a file may not be followed by the change."""
    script = [creates("a/b", "x"), edits("old", "one", "two"), edits("old", "one", "two"), text("done")]
    (tmp_path / "a").write_text("a file")
    (tmp_path / "old").write_text("one")
    (tmp_path / "old").chmod(0o400)
    async with tracked(tmp_path, script) as at:

        def unlock(event: Event) -> None:
            if event.type == "assistant.turn_end":
                (tmp_path / "old").chmod(0o600)

        at.client.on_event = unlock
        await at.prompt("edit")
        assert (tmp_path / "old").read_text() == "two"
        done = await back(at, last_point(at))
        assert (tmp_path / "old").read_text() == "one"
        assert done.outcome == "success"
        assert (tmp_path / "a").read_text() == "a file"


class FullDisk(KeptFiles):
    """Has no room to keep the content of `b` once more."""

    def keep_file(self, path: Path, digest: str) -> None:
        if path.name == "b":
            raise OSError(28, "No space left on device")
        super().keep_file(path, digest)


async def test_a_failure_in_the_middle_undoes_what_was_put_back(tmp_path: Path) -> None:
    async with tracked(tmp_path, [creates("a", "x"), creates("new/b", "x"), text("done")]) as at:
        at.session.capture.kept = FullDisk(at.session.folder)
        await at.prompt("write")
        point = last_point(at)
        before = [event.id for event in at.session.journal.events()]
        done = await back(at, point)
        error = f"can't restore {tmp_path / 'new/b'}: No space left on device"
        assert done == RewindResult("files-rolled-back", [], [], error)
        assert [(tmp_path / name).read_text() for name in ("a", "new/b")] == ["x", "x"]
        assert [event.id for event in at.session.journal.events()] == before
        at.session.capture.kept = KeptFiles(at.session.folder)
        assert (await back(at, point)).outcome == "success"
        assert list((tmp_path / "new").iterdir()) == []


class FixedLog(MemoryLog):
    """Can't be rewritten once."""

    faults = 1

    def rewrite(self, lines: Iterable[bytes]) -> None:
        if self.faults:
            self.faults -= 1
            raise StoreError("no room")
        super().rewrite(lines)


class FixedLogs(MemoryStore):
    def create(self, session_id: str) -> MemoryLog:
        super().create(session_id)
        self.logs[session_id] = log = FixedLog()
        return log


async def test_a_log_that_cannot_be_cut_leaves_a_rewind_that_can_be_repeated(tmp_path: Path) -> None:
    script = [creates("a", "x"), text("done")]
    async with tracked(tmp_path, script, store=FixedLogs(tmp_path / "state")) as at:
        await at.prompt("write")
        point = last_point(at)
        assert await back(at, point) == RewindResult(
            "truncation-failed", [str(tmp_path / "a")], [], "no room"
        )
        assert not (tmp_path / "a").exists()
        assert (await preview(at.session, point)).files == []
        again = await back(at, point)
        assert (again.outcome, again.restored_files, again.skipped_files) == ("success", [], [])


async def test_a_busy_session_is_not_rewound(tmp_path: Path) -> None:
    go_on = anyio.Event()

    async def slow(request: ModelRequest) -> Reply:
        await go_on.wait()
        return Reply("done")

    async with tracked(tmp_path, [text("first"), slow]) as at:
        await at.prompt("hi")
        point = last_point(at)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(at.prompt, "more")
            await at.client.until("assistant.turn_start", 2)
            told = rewind_points(at.session)
            assert (told.points, told.unavailable_reason) == ([], "session-busy")
            assert (await preview(at.session, point)).reason == "session-busy"
            for mode in MODES:
                assert await back(at, point, mode) == RewindResult("session-busy", [], [])
            go_on.set()


async def test_without_tracking_there_are_points_and_no_files(tmp_path: Path) -> None:
    script = [creates("a", "x"), text("done")]
    async with tracked(tmp_path, script, tracks=None) as at:
        await at.prompt("write")
        told = rewind_points(at.session)
        assert (told.file_change_tracking_enabled, told.unavailable_reason) == (False, None)
        (point,) = told.points
        assert (point.can_restore_files, point.file_count) == (False, 0)
        off = "file-change-tracking-disabled"
        assert await preview(at.session, point.event_id) == RewindPreview(False, 0, [], off)
        assert await back(at, point.event_id) == RewindResult(off, [], [])
        assert at.all(FileCaptured) == []
        assert (await back(at, point.event_id, "conversation")).outcome == "success"


async def test_what_is_no_prompt_is_refused_by_its_name(tmp_path: Path) -> None:
    async with tracked(tmp_path, [text("done")]) as at:
        await at.prompt("hi")
        for event_id in ("nonsense", at.session.journal.events()[0].id):
            with pytest.raises(InvalidParams, match=f"eventId: {event_id} is no prompt"):
                await preview(at.session, event_id)
            with pytest.raises(InvalidParams, match=f"eventId: {event_id} is no prompt"):
                await back(at, event_id)
