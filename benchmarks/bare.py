"""What two things cost by themselves: decoding a log, and ending a process group. The floor does neither."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from benchmarks.footprint import Footprint

ROOT = Path(__file__).parent.parent

PAUSE = 0.1
"""Seconds in which nothing happens before something is ended, by the runtime or alone: a processor that slept
takes twice as long for the same."""


def decoding(log: Path) -> float:
    """Return the seconds that a script of its own needs to decode a log into plain objects."""
    command = [sys.executable, "-m", "benchmarks.bare", str(log)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)


def ending() -> float:
    """Return the seconds that it takes to end a process group and to wait for it."""
    process = subprocess.Popen(["sleep", "77"], start_new_session=True)
    wait_until_a_child_sleeps(Footprint(os.getpid()))
    time.sleep(PAUSE)
    started = time.perf_counter()
    os.killpg(process.pid, signal.SIGTERM)
    process.wait()
    return time.perf_counter() - started


def wait_until_a_child_sleeps(parent: Footprint) -> None:
    """Return when a child of a process runs `sleep`, and waits. Raises TimeoutError after ten seconds."""
    deadline = time.monotonic() + 10
    while not any(map(_sleeps, parent.children)):
        if time.monotonic() > deadline:
            raise TimeoutError("no child sleeps")
        time.sleep(0.001)


def _sleeps(pid: int) -> bool:
    name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(") ")
    return name == "sleep" and rest.startswith("S")


def syncing(folder: Path, writes: int = 100) -> float:
    """Return the seconds of one fsync after a small append, on the average."""
    with (folder / "syncing").open("ab", buffering=0) as file:
        started = time.perf_counter()
        for _ in range(writes):
            file.write(b"x" * 1000)
            os.fsync(file.fileno())
        return (time.perf_counter() - started) / writes


def _decode(log: Path) -> float:
    decode = msgspec.json.Decoder().decode
    started = time.perf_counter()
    with log.open("rb") as lines:
        for line in lines:
            decode(line)
    return time.perf_counter() - started


if __name__ == "__main__":
    print(_decode(Path(sys.argv[1])))  # noqa: T201
