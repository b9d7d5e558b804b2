"""The whole loop on a real model: a question about files that nobody has seen before, answered by tools.

Writes a few files with random content, asks the local model for one value in them, and checks the answer, the
turns and the log. Exit status 0 when all of it is right.
"""

import argparse
import random
import string
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec

from turnwright import Client
from turnwright.cli.output import show
from turnwright.cli.progress import Progress as TurnLines
from turnwright.errors import SessionFailed
from turnwright.protocol.messages import Reply
from turnwright.providers.base import ModelInfo, ModelRequest, Progress, Provider
from turnwright.providers.embedded import Embedded
from turnwright.providers.transport import DIRECT, Route

WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet", "jetty")
PATIENCE = 600.0
"""Seconds for the whole run; an idle core needs about twenty."""


class Puzzle(msgspec.Struct, frozen=True):
    """Files by name, a question about them, and what its answer must hold."""

    files: dict[str, str]
    question: str
    answer: str


class Counted:
    """A provider that counts the calls on their way to another."""

    def __init__(self, provider: Provider) -> None:
        self.calls = 0
        self._provider = provider

    async def respond(self, request: ModelRequest, progress: Progress) -> Reply:
        self.calls += 1
        return await self._provider.respond(request, progress)

    async def models(self, route: Route = DIRECT) -> list[ModelInfo]:
        return await self._provider.models(route)

    async def aclose(self) -> None:
        await self._provider.aclose()


def puzzle(source: random.Random) -> Puzzle:
    """Files with random content, and a question whose answer is in one of them alone."""
    port = str(source.randrange(10000, 60000))
    names = source.sample(WORDS, 6)
    visits = [f"{source.choice(names)},{source.randrange(100)}" for _ in range(source.randrange(20, 90))]
    settings = [
        f"name = {names[0]}",
        f"host = {names[1]}.example",
        f"port = {port}",
        f"retries = {len(visits)}",
    ]
    source.shuffle(settings)
    token = "".join(source.choices(string.ascii_lowercase, k=12))
    files = {
        "service.ini": "\n".join(["[service]", *settings, ""]),
        "visits.csv": "\n".join(["name,visits", *visits, ""]),
        "notes.txt": f"Call {names[2]} about {names[3]}.\nThe word of the day is {token}.\n",
    }
    return Puzzle(files, "What is the port in service.ini?", port)


async def demonstrate(asked: Puzzle, provider: Provider, place: Path) -> bool:
    """Run the puzzle in `place`, showing all that happens; whether everything was right."""
    folder, home = place / "files", place / "home"
    folder.mkdir()
    for name, content in asked.files.items():
        (folder / name).write_text(content, "utf-8")
        show(f"wrote {folder / name}, {len(content.splitlines())} lines")
    show(f"\nQuestion: {asked.question}\n")
    counted, lines, started = Counted(provider), TurnLines(show), time.monotonic()
    async with (
        Client(provider=counted, home=home) as client,
        await client.create_session(working_directory=folder, on_event=lines.hear) as session,
    ):
        try:
            answer = (await session.send_and_wait(asked.question, timeout=PATIENCE)).data.content
        except (SessionFailed, TimeoutError) as error:
            answer = f"none: {error or 'it took too long'}"
        log = home / "session-state" / session.id / "events.jsonl"
    is_right = asked.answer in answer
    show(f"\nAnswer: {answer}")
    show(f"It is {'right' if is_right else 'wrong'}: the file says {asked.answer}.")
    logged = sum(b"assistant.turn_start" in line for line in log.read_bytes().splitlines())
    show(f"grep -c assistant.turn_start {log}: {logged}; calls of the model: {counted.calls}")
    show(f"{time.monotonic() - started:.0f} seconds")
    return is_right and logged == counted.calls > 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo once; status 1 when the answer or the count is wrong."""
    flags = argparse.ArgumentParser(prog="scripts/demo", description=__doc__)
    flags.add_argument("--seed", type=int, help="make the same files again")
    flags.add_argument("--keep", action="store_true", help="leave the files and the log where they are")
    given = flags.parse_args(argv)
    asked = puzzle(random.Random(given.seed))
    if given.keep:
        return _run(asked, Path(tempfile.mkdtemp(prefix="turnwright-demo-")))
    with tempfile.TemporaryDirectory(prefix="turnwright-demo-") as place:
        return _run(asked, Path(place))


def _run(asked: Puzzle, place: Path) -> int:
    return 0 if anyio.run(demonstrate, asked, Embedded(), place.resolve()) else 1


if __name__ == "__main__":
    sys.exit(main())
