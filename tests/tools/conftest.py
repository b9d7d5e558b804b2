"""A folder to work in and calls of tools in it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from turnwright.tools.base import Call


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    """The session's working directory, empty."""
    folder = tmp_path.resolve() / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def progress() -> list[str]:
    """What the calls of `make_call` have shown as progress."""
    return []


@pytest.fixture
def make_call(cwd: Path, tmp_path: Path, progress: list[str]) -> Callable[..., Call]:
    """Make a call in `cwd`; the keywords are its arguments."""

    def make(**arguments: object) -> Call:
        return Call(
            id="call_1",
            arguments=arguments,
            cwd=cwd,
            overflow=tmp_path.resolve() / "overflow",
            progress=progress.append,
            env=dict(os.environ),
        )

    return make
