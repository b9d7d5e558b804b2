"""What every test gets: an environment of its own, and a check that nothing outlives it."""

import importlib.util
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from turnwright.providers import local_model

FOREIGN_SETTINGS = ("COPILOT_", "TURNWRIGHT_", "OPENAI_", "ANTHROPIC_", "GH_TOKEN", "GITHUB_TOKEN")
SECONDS_TO_WIND_UP = 5.0

T = TypeVar("T")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop of async tests; session-wide, so that fixtures of any scope may be async."""
    return "asyncio"


@pytest.fixture(autouse=True)
def leaves_no_trace() -> Iterator[None]:
    """Fail a test that leaves a child process or a thread running, or the process elsewhere than it was."""
    cwd, home = Path.cwd(), os.environ.get("HOME")
    threads, children = set(threading.enumerate()), running_children()
    yield
    try:
        moved = Path.cwd() != cwd
    except FileNotFoundError:
        moved = True
    if moved:
        os.chdir(cwd)
    faults = ["changed the working directory"] if moved else []
    if os.environ.get("HOME") != home:
        faults.append("changed HOME")
    faults += [
        f"left the thread {thread.name!r} running"
        for thread in left_over(lambda: set(threading.enumerate()) - threads)
    ]
    faults += [
        f"left the child process {child} running"
        for child in left_over(lambda: running_children() - children)
    ]
    if faults:
        pytest.fail("The test " + " and ".join(faults), pytrace=False)


@pytest.fixture(autouse=True)
def own_environment(leaves_no_trace: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the developer's settings and keys, and put the home of sessions into the test's own folder."""
    for name in list(os.environ):
        if name.startswith(FOREIGN_SETTINGS) and name != local_model.FILE:
            monkeypatch.delenv(name)
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path / "copilot-home"))


def left_over(find: Callable[[], set[T]]) -> set[T]:
    """What `find` still finds once all that is ending has had its time to end."""
    deadline = time.monotonic() + SECONDS_TO_WIND_UP
    while (found := find()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def running_children() -> set[int]:
    """The process ids of our children, those that have ended and wait to be reaped aside."""
    if (tasks := Path("/proc/self/task")).is_dir():
        listed = [pid for file in tasks.glob("*/children") for pid in read(file).split()]
        return {int(pid) for pid in listed if not ended(read(Path("/proc", pid, "stat")))}
    table = subprocess.run(
        ["ps", "-A", "-o", "ppid=,pid=,stat=,comm="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 3) for line in table.splitlines()]
    return {
        int(pid)
        for parent, pid, state, command in rows
        if int(parent) == os.getpid() and not state.startswith("Z") and not command.endswith("ps")
    }


def read(file: Path) -> str:
    try:
        return file.read_text()
    except (FileNotFoundError, ProcessLookupError):  # it ended while we looked
        return ""


def ended(stat: str) -> bool:
    return not stat or stat.rpartition(") ")[2][0] in "ZX"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of the real model where the model or its engine is not installed."""
    if importlib.util.find_spec("xllamacpp") is None:
        missing = "the local model's engine is not installed: scripts/setup --local"
    elif not local_model.installed():
        missing = "the local model is not here: turnwright models pull"
    else:
        return
    for item in items:
        if item.get_closest_marker("real_model"):
            item.add_marker(pytest.mark.skip(reason=missing))
