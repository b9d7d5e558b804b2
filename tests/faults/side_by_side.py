"""Several parts at once, each in a process of its own, so that all of them take half as long on two cores."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

ALONE = ("big", "listing")
"""Parts that tell how long something takes: nothing else runs meanwhile."""

LONGEST = ("power", "kills", "cuts", "fuzz", "simulate", "processes")
"""Parts that are begun first."""

PATIENCE = 3600
"""Seconds that a part may take."""


def run(parts: Sequence[str], every: int, show: Callable[[str], None]) -> int:
    """Run the parts, show their lines as they end, and return the worst status."""
    statuses = [_shown(_part(part, every), show) for part in ALONE if part in parts]
    rest = [part for part in LONGEST if part in parts]
    rest += [part for part in parts if part not in (*ALONE, *LONGEST)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as processes:
        begun = [processes.submit(_part, part, every) for part in rest]
        statuses += [_shown(done.result(), show) for done in as_completed(begun)]
    return max(statuses)


def _part(part: str, every: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.faults", part, "--every", str(every)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=PATIENCE)


def _shown(done: subprocess.CompletedProcess[str], show: Callable[[str], None]) -> int:
    for line in done.stdout.splitlines()[1:]:  # the first line is the heading
        show(line)
    return done.returncode
