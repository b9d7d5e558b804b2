"""How many tokens the context takes: an estimate that learns from what the model's server counted."""

from pathlib import Path

import pytest

from tests.cases.scene import scene
from turnwright.protocol.envelope import parse
from turnwright.protocol.events.session import UsageInfo, UsageRecord
from turnwright.protocol.messages import Reply, Usage
from turnwright.providers.base import ModelRequest
from turnwright.store.memory import MemoryStore
from turnwright.store.state import State

pytestmark = pytest.mark.anyio

ONE_A_TOKEN, TOO_MANY, TOO_FEW = 1.0, 0.1, 1000.0


def counting(characters_per_token: float):
    """A reply whose server makes so many characters a token."""

    async def reply(request: ModelRequest) -> Reply:
        said = sum(len(message.content) for message in request.messages)
        return Reply("ok", usage=Usage(max(1, round((said + len(request.system)) / characters_per_token)), 1))

    return reply


async def test_the_estimate_follows_the_servers_count(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path)
    script = [counting(ONE_A_TOKEN), counting(ONE_A_TOKEN)]
    async with scene(tmp_path, script, store=store, available_tools=[]) as at:
        await at.prompt("x" * 4000)
        await at.prompt("and now?")
        first, second = at.all(UsageInfo)
        characters = at.all(UsageRecord)[1].usage["inputCharacters"]
        assert first.current_tokens < 2000
        assert abs(second.current_tokens - characters) < characters / 10
        learned = at.session.journal.state.usage.characters_per_token
        replayed = State()
        for line in store.logs[at.session.id].lines:
            replayed.apply(parse(line))
        assert replayed.usage.characters_per_token == learned


@pytest.mark.parametrize("count", [TOO_MANY, TOO_FEW])
async def test_a_count_that_cannot_be_true_is_not_believed(tmp_path: Path, count: float) -> None:
    async with scene(tmp_path, [counting(count)], available_tools=[]) as at:
        await at.prompt("x" * 4000)
        assert at.session.journal.state.usage.characters_per_token == 4.0
