"""The official TypeScript client drives the runtime, over stdio and TCP: an app of its needs no change."""

import json
import os
import shutil
import sys
from pathlib import Path

import anyio
import pytest

from tests.official import typescript_client
from turnwright.testing.chat_answers import call, say
from turnwright.testing.chat_server import ChatServer

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

PROGRAM = Path(__file__).with_name("conversation.mjs")
RUNTIME = Path(sys.executable).with_name("turnwright")
SECONDS = 40.0


@pytest.fixture(scope="module")
def node() -> str:
    """The command that runs node."""
    try:
        return typescript_client.node()
    except typescript_client.Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def modules(node: str) -> Path:
    """The folder with the client's package."""
    try:
        return typescript_client.modules()
    except typescript_client.Unavailable as reason:
        pytest.skip(str(reason))


def touch(name: str) -> dict[str, str]:
    """The arguments of a command that makes a file."""
    return {"command": f"touch {name}", "description": "Touch"}


@pytest.mark.parametrize("transport", ["stdio", "tcp"])
async def test_an_app_prompts_brings_a_tool_is_asked_streams_and_resumes(
    transport: str, node: str, modules: Path, tmp_path: Path
) -> None:
    script = [
        call("lookup", {"word": "tree"}),
        call("bash", touch("made")),
        say("A tree."),
        call("bash", touch("forbidden")),
        say("As you wish."),
    ]
    (tmp_path / "node_modules").symlink_to(modules)
    shutil.copy(PROGRAM, tmp_path)
    async with ChatServer(script) as server:
        with anyio.fail_after(SECONDS):
            done = await anyio.run_process(
                [node, PROGRAM.name, transport, RUNTIME, server.base_url, tmp_path],
                cwd=tmp_path,
                env=dict(os.environ),
                check=False,
            )
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert json.loads(done.stdout) == {
        "asked": ["custom-tool", "shell", "shell"],
        "looked": ["tree"],
        "deltas": "A tree.",
        "idles": 1,
        "reply": "A tree.",
        "errors": [],
        "listed": [True],
        "resumed": "As you wish.",
        "said": ["What is a tree?", "Touch another.", "Well?"],
        "results": [True, True, False],
    }
    assert ((tmp_path / "made").exists(), (tmp_path / "forbidden").exists()) == (True, False)
    assert server.violations == []
    assert len(server.requests) == len(script)
