"""Files that never end where a file is expected: they are not read, and idle comes."""

import os
from pathlib import Path

import pytest

from tests.cases.wired import serving
from turnwright.protocol.messages import User
from turnwright.providers.scripted import text

pytestmark = pytest.mark.anyio


async def test_a_pipe_among_attachments_instructions_or_gits_files_holds_up_no_run(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / ".git").mkdir(parents=True)
    pipes = [folder / name for name in ("attached", "AGENTS.md", ".git/HEAD", ".git/config")]
    for pipe in pipes:
        os.mkfifo(pipe)
    async with serving(tmp_path, [text("Hello.")]) as server:
        client = server.connect()
        await client.call("session.create", sessionId="it", workingDirectory=str(folder))
        attached = [{"type": "file", "path": str(pipes[0])}]
        await client.call("session.send", sessionId="it", prompt="Look.", attachments=attached)
        await client.until("session.idle")
    (request,) = server.model.requests
    (message,) = request.messages
    assert isinstance(message, User)
    assert f"* {pipes[0]} (can't be read: it is not a regular file)" in message.content
