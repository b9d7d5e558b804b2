"""Campaigns side by side, each in a process of its own, so that one that hangs or dies is a finding."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fuzzing.campaign import Tally
from tests.fuzzing.worker import HUNG
from turnwright.protocol.wire import decode

SECONDS_AN_INPUT = 0.05
"""Beyond which a worker is taken to hang, whoever else uses the machine."""


def tallies(names: Iterable[str], inputs: int, seed: int, folder: Path) -> Iterator[tuple[str, Tally]]:
    """Try so many inputs on each target, on all processors; findings are kept below `folder`."""

    def tally(name: str) -> tuple[str, Tally]:
        return name, _tally(name, inputs, seed, folder / name)

    with ThreadPoolExecutor(os.cpu_count()) as workers:
        yield from workers.map(tally, names)


def _tally(name: str, inputs: int, seed: int, folder: Path) -> Tally:
    command = [sys.executable, "-m", "tests.fuzzing.worker", name, str(folder)]
    told = folder / "tally.json"
    told.unlink(missing_ok=True)
    try:
        done = subprocess.run(
            [*command, "--inputs", str(inputs), "--seed", str(seed)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=HUNG + inputs * SECONDS_AN_INPUT,
            check=False,
        )
        how, said = f"status {done.returncode}", done.stderr
    except subprocess.TimeoutExpired as error:
        how, said = "a hang", error.stderr or b""
    tally = decode(told.read_bytes(), Tally) if told.exists() else Tally()
    if tally.tried < inputs:
        last = said.decode(errors="replace").strip().splitlines()[-3:]
        tally.lost += 1
        tally.faults["worker"] = f"the worker ended with {how}: {' / '.join(last)}"
    return tally
