"""A model server for what the documentation shows, and programs that are run against it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import anyio

from turnwright.testing.chat_server import ChatServer

ROOT = Path(__file__).parents[2]
SECONDS = 40.0
"""No program may take longer; most take one."""


class Ran(NamedTuple):
    """What a program wrote, and how it ended."""

    out: str
    err: str
    status: int


def environment(server: ChatServer) -> dict[str, str]:
    """The test's own environment, with `server` as the endpoint and `turnwright` on the PATH."""
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "TURNWRIGHT_BASE_URL": server.base_url,
        "TURNWRIGHT_MODEL": "test-model",
    }


async def ran(command: list[str], cwd: Path, variables: Mapping[str, str], *, stdin: str = "") -> Ran:
    """Run a program to its end."""
    with anyio.fail_after(SECONDS):
        done = await anyio.run_process(
            command, cwd=cwd, env=variables, input=stdin.encode(), stderr=subprocess.PIPE, check=False
        )
    return Ran(done.stdout.decode(), done.stderr.decode(), done.returncode)
