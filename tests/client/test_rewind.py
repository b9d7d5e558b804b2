"""Going back over the SDK: a session that keeps track of files, and its log afterwards."""

from pathlib import Path

import pytest

from tests.client.runtimes import in_process
from turnwright.protocol import wire
from turnwright.protocol.events.session import SnapshotRewind
from turnwright.protocol.rewind import FilePreview
from turnwright.providers.scripted import Scripted, calls, text
from turnwright.store.audit import audit

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("files", [True, False])
async def test_a_session_goes_back_with_its_files_or_without(tmp_path: Path, files: bool) -> None:
    given = wire.encode({"path": "new.txt", "file_text": "new\n"}).decode()
    model = Scripted([text("hello"), calls(("a", "create", given)), text("written"), text("again")])
    heard: list[SnapshotRewind] = []
    async with (
        in_process(model, tmp_path) as client,
        await client.create_session(
            working_directory=tmp_path, enable_file_change_tracking=True, allow_tools=["write"]
        ) as session,
    ):
        session.on(SnapshotRewind, lambda event: heard.append(event.data))
        await session.send_and_wait("hi")
        await session.send_and_wait("write")
        before = await session.get_events()
        _, point = (await session.rewind_points()).points
        preview = await session.preview_rewind(point.event_id)
        new = tmp_path / "new.txt"
        assert preview.files == [FilePreview(str(new), "created", 1, 0)]
        done = await session.rewind(point.event_id, files=files)
        assert (done.outcome, done.restored_files) == ("success", [str(new)] if files else [])
        assert new.exists() != files
        left = await session.get_events()
        assert done.events_removed == len(before) - len(left)
        reply = await session.send_and_wait("once more")
        assert reply.data.content == "again"
        assert heard == [SnapshotRewind(point.event_id, len(before) - len(left))]
        log = Path(session.workspace_path or "") / "events.jsonl"
        assert audit(log.read_bytes().splitlines(keepends=True)).findings == []
