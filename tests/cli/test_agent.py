"""`turnwright -p --agent`: a custom agent answers."""

from pathlib import Path

import pytest

from tests.cli.command import turnwright
from turnwright.testing.chat_answers import say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio


async def test_an_agent_of_the_folder_answers_and_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    agents = tmp_path / ".github" / "agents"
    agents.mkdir(parents=True)
    (agents / "pirate.md").write_text("---\ntools: [view]\n---\nSay arr.\n")
    async with ChatServer([say("Arr.")]) as server:
        done = await turnwright("-p", "Hello", "--agent", "pirate", cwd=tmp_path, server=server)
        assert done == (0, "Arr.\n", "")
        request = server.requests[0]
        assert request["messages"][0]["content"].endswith("Say arr.\n</agent_instructions>")
        assert [tool["function"]["name"] for tool in request["tools"]] == ["view"]
        done = await turnwright("-p", "Hello", "--agent", "nobody", cwd=tmp_path, server=server)
        assert done.status == 1
        assert "agent: there is no agent 'nobody'; there are: pirate" in done.err
