"""Summaries as files of the session, and large texts too."""

from pathlib import Path

import pytest

from tests.cases.wired import serving
from turnwright.providers.scripted import text

pytestmark = pytest.mark.anyio

SUMMARY = "<overview>all of it</overview><checkpoint_title>The Long Road</checkpoint_title>"


async def test_each_summary_is_a_checkpoint_that_can_be_listed_and_read(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("hello"), text(SUMMARY)]) as server:
        client = server.connect()
        await client.call("session.create", sessionId="it", workingDirectory=str(tmp_path))
        assert await client.call("session.workspaces.listCheckpoints", sessionId="it") == {"checkpoints": []}
        await client.call("session.send", sessionId="it", prompt="hi")
        await client.until("session.idle")
        await client.call("session.history.compact", sessionId="it")
        assert await client.call("session.workspaces.listCheckpoints", sessionId="it") == {
            "checkpoints": [{"number": 1, "title": "The long road", "filename": "001-the-long-road.md"}]
        }
        read = [
            await client.call("session.workspaces.readCheckpoint", sessionId="it", number=number)
            for number in (1, 2)
        ]
        assert read == [{"content": SUMMARY}, {"content": None}]


async def test_a_large_text_becomes_a_file_of_the_session(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        await client.call("session.create", sessionId="it", workingDirectory=str(tmp_path))
        told = await client.call("session.workspaces.saveLargePaste", sessionId="it", content="é" * 9)
        saved = told["saved"]
        assert saved["sizeBytes"] == 18
        assert Path(saved["filePath"]).read_text("utf-8") == "é" * 9
        read = await client.call("session.workspaces.readFile", sessionId="it", path=saved["filename"])
        assert read == {"content": "é" * 9}
