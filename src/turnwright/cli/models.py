"""`turnwright models`: what there is to choose from, and fetching the local model."""

import importlib.util
import os
import sys
import time
from pathlib import Path

import anyio

from turnwright import config
from turnwright.cli.output import show, tell
from turnwright.errors import ProviderError
from turnwright.providers import local_model
from turnwright.providers.base import ModelInfo
from turnwright.providers.open import open_provider
from turnwright.server.settings import home

READY = "ready"
BAR_WIDTH = 30
REDRAW_SECONDS = 0.1
PLAIN_STEP = 10
"""Per cent between two lines where there is no terminal to redraw."""


def main(action: str) -> int:
    """Do what the command line asks for. Raises ConfigError or ProviderError."""
    if action == "pull":
        _pull()
    else:
        _list(config.load(home(), Path.cwd()))
    return 0


def _list(configured: config.Config) -> None:
    if configured.endpoint is not None:
        for model in anyio.run(models_of, configured.endpoint):
            window = f"  {model.context_window:,} tokens" if model.context_window else ""
            show(f"{model.id}{window}")
    else:
        tell("No endpoint is configured: `turnwright doctor` says how to set one.")
    show(f"{config.LOCAL}  {local_model.MODEL.title}, {local_state()}")


async def models_of(endpoint: config.Endpoint) -> list[ModelInfo]:
    """Ask the endpoint for its models. Raises ConfigError or ProviderError."""
    provider = open_provider(endpoint.options)
    try:
        return await provider.models()
    finally:
        await provider.aclose()


def local_state() -> str:
    """Whether the local model can be used, and what to do if not."""
    missing: list[str] = []
    if importlib.util.find_spec("xllamacpp") is None:
        missing.append("pip install 'turnwright[local]'")
    if not local_model.installed():
        missing.append("turnwright models pull")
    return "to use it: " + ", then ".join(missing) if missing else READY


def _pull() -> None:
    there = local_model.installed()
    progress = _Bar() if sys.stderr.isatty() else _Lines()
    try:
        file = local_model.pull(progress)
    except ProviderError as error:
        raise ProviderError(f"{error}{f' ({error.detail})' if error.detail else ''}") from error
    finally:
        progress.close()
    origin = local_model.origin()
    tell(f"The local model is {'there already' if there else 'there'}: {file}")
    if origin:
        tell(f"It came from {origin}; its sha256 is {local_model.MODEL.sha256}, as pinned.")
    if importlib.util.find_spec("xllamacpp") is None:
        tell("To run it: pip install 'turnwright[local]'")


class _Lines:
    """Progress as plain lines, few of them."""

    def __init__(self) -> None:
        self._told: tuple[str, int] | None = None

    def __call__(self, done: int, total: int, doing: str) -> None:
        percent = done * 100 // total if total else 0
        step = (doing, percent // PLAIN_STEP)
        if step != self._told:
            self._told = step
            tell(f"{doing}: {percent} % of {megabytes(total)}" if total else doing)

    def close(self) -> None:
        pass


class _Bar:
    """Progress as one line that is drawn again and again."""

    def __init__(self) -> None:
        self._drawn = 0.0
        self._doing = ""

    def __call__(self, done: int, total: int, doing: str) -> None:
        now = time.monotonic()
        if doing == self._doing and done < total and now - self._drawn < REDRAW_SECONDS:
            return
        if self._doing and doing != self._doing:
            sys.stderr.write("\n")
        self._doing, self._drawn = doing, now
        full = BAR_WIDTH * done // total if total else 0
        bar = f"{'█' * full}{'░' * (BAR_WIDTH - full)} {megabytes(done)} of {megabytes(total)}  "
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
        sys.stderr.write(f"\r\x1b[K{(bar * bool(total) + doing)[: columns - 1]}")
        sys.stderr.flush()

    def close(self) -> None:
        if self._doing:
            sys.stderr.write("\n")


def megabytes(count: int) -> str:
    """Bytes in the unit that people read."""
    return f"{count / 1e6:,.0f} MB"
