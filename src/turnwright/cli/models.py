"""`turnwright models`: listing them, and fetching the local one."""

import importlib.util
import os
import sys
import time
from argparse import Namespace
from pathlib import Path

from turnwright import config
from turnwright.cli.output import tell
from turnwright.errors import ProviderError
from turnwright.providers import local_model
from turnwright.server.settings import home

BAR_WIDTH = 30
REDRAW_SECONDS = 0.1
PLAIN_STEP = 10
"""Per cent between two lines where there is no terminal to redraw."""


def main(given: Namespace) -> int:
    """Do what the command line asks for. Raises ConfigError or ProviderError."""
    if given.action == "pull":
        _pull()
    else:
        from turnwright.cli import model_list

        model_list.main(config.load(home(), Path.cwd()), as_json=given.json)
    return 0


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
