"""A power loss takes no turn whose end was published, though it tears and reorders what was not synced."""

import random
from pathlib import Path

import anyio
import pytest

from tests.faults.power_loss import lose_power, promised, record
from tests.faults.volatile_disk import Name, Operation, Sync, Write, survivors
from turnwright.protocol.options import Durability

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("durability", ["turn", "event", "none"])
async def test_what_was_promised_is_there_after_a_power_loss(tmp_path: Path, durability: Durability) -> None:
    """Thousands of seeds are tried by scripts/faults; here, some."""
    with anyio.fail_after(50):
        recording = await record(tmp_path / "first" / "home", durability)
        assert bool(promised(recording, len(recording.done))) == (durability != "none")
        for seed in range(25):
            loss = await lose_power(recording, seed, tmp_path / str(seed) / "home")
            assert (seed, loss.faults) == (seed, [])


def test_the_simulated_disk_loses_all_that_was_not_synced() -> None:
    folder, file = Path("/d"), Path("/d/f")
    done: list[Operation] = [
        Name(file, 0),
        Write(0, 0, b"one"),
        Sync(folder, 2),
        Sync(0, 2),
        Write(0, 3, b"two"),
    ]
    found = {survivors(done, random.Random(seed)).get(file) for seed in range(100)}
    assert {b"one", b"onetwo", b"one\0\0\0"} <= found
    assert all(content is not None and content.startswith(b"one") for content in found)
    unnamed = {survivors(done[:2], random.Random(seed)).get(file) for seed in range(100)}
    assert {None, b"", b"one"} <= unnamed
