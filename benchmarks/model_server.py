"""The scripted model server: built where it is missing or old, started, asked what it saw."""

import http.client
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_suffix(".c")


class Request(NamedTuple):
    """One model call as the server saw it: CLOCK_MONOTONIC seconds, the script's id, bytes of its body."""

    received: float
    sent: float
    id: int
    body: int


class ModelServer:
    """A running server; `url` is the base URL for chat completions."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.url = f"http://127.0.0.1:{port}/v1"

    def requests(self) -> list[Request]:
        """Return every request since the last `forget`, in the order of arrival."""
        rows = [line.split() for line in self._ask("GET", "/requests").splitlines()]
        return [Request(float(a), float(b), int(c), int(d)) for a, b, c, d in rows]

    def forget(self) -> None:
        """Empty the list of requests."""
        self._ask("POST", "/forget")

    def _ask(self, method: str, path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        try:
            connection.request(method, path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()


def build(folder: Path) -> Path:
    """Compile the server into `folder`, unless it is there and newer than its source."""
    program = folder / "model_server"
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-O2", "-o", str(program), str(SOURCE)], check=True)
    return program


@contextmanager
def running(program: Path) -> Generator[ModelServer]:
    """Run the server; it ends with the block."""
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield ModelServer(int(process.stdout.readline()))
        finally:
            process.kill()


def script(*, turns: int = 1, deltas: int = 1, id: int = 0, tool: str = "noop", command: str = "true") -> str:
    """Return a prompt that holds the script of the model's answers."""
    fields = f"turns={turns};deltas={deltas};id={id};tool={tool};command={command.replace(' ', '_')}"
    return f"Do it. SCRIPT{{{fields}}}"
