"""A small soak: sessions come and go, some are aborted, and the process holds no more than before."""

from pathlib import Path

import anyio
import pytest

from tests.faults.soak import FEWEST_SESSIONS, FEWEST_TURNS, PROMPTS, TURNS_OF_A_SESSION, Held, Soaked, soak

ABORTED = 2
"""Of each round of prompts."""


def soaked(*, turns: int, kilobytes: int) -> Soaked:
    """A soak in which so many turns added so much memory."""
    before = Held(8, 2, 0, 100_000)
    after = before._replace(kilobytes=before.kilobytes + kilobytes)
    return Soaked(turns, turns, 0, 0, before, after, turns, 0.0)


def test_memory_is_judged_where_there_were_turns_enough_to_tell_and_else_that_is_said() -> None:
    few = soaked(turns=FEWEST_TURNS - 1, kilobytes=2000)
    assert (few.is_too_much, "too few to tell" in str(few)) == (False, True)
    assert soaked(turns=FEWEST_TURNS, kilobytes=2000).is_too_much
    assert not soaked(turns=FEWEST_TURNS, kilobytes=1000).is_too_much


@pytest.mark.anyio
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="what a process holds is read from /proc")
async def test_after_many_sessions_a_process_has_no_more_files_threads_and_children(tmp_path: Path) -> None:
    with anyio.fail_after(50):
        found = await soak(tmp_path, FEWEST_SESSIONS, idle=False)
    rounds = FEWEST_SESSIONS // len(PROMPTS)
    whole = rounds * (len(PROMPTS) - ABORTED) * TURNS_OF_A_SESSION
    assert (found.turns, found.aborts, found.odd) == (whole + found.aborts, rounds * ABORTED, 0)
    assert found.grown == []
