"""A small soak: sessions come and go, some are aborted, and the process holds no more than before."""

from pathlib import Path

import anyio
import pytest

from tests.faults.soak import PROMPTS, TURNS_OF_A_SESSION, soak

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not Path("/proc/self/statm").exists(), reason="what a process holds is read from /proc"
    ),
]

SESSIONS = 50
ABORTED = 2
"""Of each round of prompts."""


async def test_after_many_sessions_a_process_has_no_more_files_threads_and_children(tmp_path: Path) -> None:
    with anyio.fail_after(50):
        found = await soak(tmp_path, SESSIONS, idle=False)
    rounds = SESSIONS // len(PROMPTS)
    whole = rounds * (len(PROMPTS) - ABORTED) * TURNS_OF_A_SESSION
    assert (found.turns, found.aborts, found.odd) == (whole + found.aborts, rounds * ABORTED, 0)
    assert found.grown == []
