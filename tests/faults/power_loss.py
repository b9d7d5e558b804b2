"""The power fails at a random moment of a session: no turn is lost whose end was published."""

import random
from pathlib import Path
from typing import NamedTuple

from tests.cases.local_tool import LocalTool
from tests.engine.harness import Recorder, options, running, say
from tests.faults.volatile_disk import Operation, VolatileDisk, restore, survivors
from turnwright.errors import SessionNotFound
from turnwright.protocol.envelope import Event
from turnwright.protocol.options import Durability
from turnwright.providers.scripted import Step, calls, text
from turnwright.store.jsonl import LOG_NAME, JsonlStore
from turnwright.testing.strict_model import StrictModel


class Recording(NamedTuple):
    """What a session did on the disk in `home`, and which events were published after how much of it."""

    home: Path
    durability: Durability
    done: list[Operation]
    published: list[tuple[int, Event]]


class Loss(NamedTuple):
    """What a power loss came to."""

    lost: int
    invalid: int
    faults: list[str]


async def record(home: Path, durability: Durability) -> Recording:
    """Three prompts with calls side by side, and a resume in between, in a home that isn't there yet."""
    home.parent.mkdir(parents=True)
    disk, client = VolatileDisk(), Recorder()
    published: list[tuple[int, Event]] = []
    client.on_event = lambda event: published.append((len(disk.done), event))
    script: list[Step] = []
    for turn in range(3):
        script += [calls((f"{turn}a", "ok", "{}"), (f"{turn}b", "ok", "{}")), text(f"done {turn} " * 200)]
    store = JsonlStore(home / "session-state", disk)
    settings = {"tools": [LocalTool("ok")], "durability": durability}
    async with running(StrictModel(script), home, store, **settings) as runtime:
        session = await runtime.create(options(home.parent, session_id="s"), client)
        for number in range(3):
            say(session, f"prompt {number}")
            await client.until("session.idle", number + 1)
            if number == 1:
                await runtime.unload("s")
                session = await runtime.resume("s", options(home.parent), client)
    return Recording(home, durability, disk.done, published)


def promised(recording: Recording, moment: int) -> list[Event]:
    """What must have survived a power loss at that moment."""
    seen = [event for done, event in recording.published if done <= moment and not event.ephemeral]
    match recording.durability:
        case "event":
            return seen
        case "turn":
            ends = [n for n, event in enumerate(seen) if event.type == "assistant.turn_end"]
            return seen[: ends[-1] + 1] if ends else []
        case "none":
            return []


async def lose_power(recording: Recording, seed: int, home: Path) -> Loss:
    """Cut the power at a moment that the seed chooses, and go on with what is left on the disk."""
    chance = random.Random(seed)
    moment = chance.randrange(len(recording.done) + 1)
    restore(survivors(recording.done[:moment], chance), recording.home, home)
    expected = promised(recording, moment)
    model, client, faults = StrictModel([text("on it goes")] * 4), Recorder(), list[str]()
    store = JsonlStore(home / "session-state")
    async with running(model, home, store, tools=[LocalTool("ok")]) as runtime:
        try:
            session = await runtime.resume("s", options(home.parent), client)
        except SessionNotFound:
            session = await runtime.create(options(home.parent, session_id="s"), client)
        say(session, "go on")
        await client.until("session.idle")
    log = (home / "session-state" / "s" / LOG_NAME).read_bytes().split(b"\n")
    lost = [event for event in expected if event.encoded not in log]
    faults += [f"lost: {event.type} {event.id}" for event in lost]
    faults += [f"invalid: {problem}" for problem in model.problems]
    if "assistant.message" not in client.types:
        faults.append("the next message was not answered")
    return Loss(len(lost), len(model.problems), faults)
