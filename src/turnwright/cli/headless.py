"""Serving clients: as they start us (`--headless ... --stdio`, or TCP), or by `turnwright serve`."""

import argparse
import gc
import logging
import os
import sys
from importlib.util import find_spec
from typing import NoReturn

import anyio
from anyio.abc import TaskStatus

from turnwright import config
from turnwright.cli import pillow
from turnwright.cli.arguments import DURABILITIES, LOG_LEVELS, port_number, seconds
from turnwright.cli.interrupt import stopping_signals
from turnwright.protocol.options import Durability
from turnwright.server.serve import listen, serve_stdio, serve_tcp
from turnwright.server.settings import Settings, from_environment
from turnwright.server.start import started

LEVELS = {
    "none": logging.CRITICAL + 1,
    "error": logging.ERROR,
    "warning": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
    "all": logging.DEBUG,
    "default": logging.WARNING,
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(1, f"error: {message}\n")


def parser() -> argparse.ArgumentParser:
    """The flags with which the official clients start a runtime."""
    flags = _Parser(prog="turnwright", add_help=False, allow_abbrev=False)
    flags.add_argument("--headless", action="store_true")
    flags.add_argument("--no-auto-update", action="store_true")
    flags.add_argument("--no-auto-login", action="store_true")
    flags.add_argument("--log-level", choices=LOG_LEVELS, default="default")
    flags.add_argument("--auth-token-env", metavar="VARIABLE")
    flags.add_argument("--session-idle-timeout", type=seconds, metavar="SECONDS")
    flags.add_argument("--remote", action="store_true")
    flags.add_argument("--durability", choices=DURABILITIES)
    flags.add_argument("--stdio", action="store_true")
    flags.add_argument("--port", type=port_number, default=0)
    return flags


YOUNG_OBJECTS = 10_000
"""Objects that are made before the garbage collector looks at them; Python's own number is 700."""


def main(argv: list[str]) -> int:
    """Serve as an official client asks for it."""
    flags = parser().parse_args(argv)
    settings = from_environment(
        os.environ, auth_token_variable=flags.auth_token_env, auto_login=not flags.no_auto_login
    )
    settings.session_idle_timeout = flags.session_idle_timeout
    return run(settings, flags.log_level, None if flags.stdio else flags.port, flags.durability)


def run(settings: Settings, log_level: str, port: int | None, durability: Durability | None) -> int:
    """Serve until the client hangs up (stdio, for which `port` is None) or SIGTERM comes."""
    logging.basicConfig(
        level=LEVELS[log_level], stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
    )
    pillow.silence()
    chosen = config.load(settings.home, flags=config.Choices(durability=durability))
    # Modules stay, and reference counts free nearly all of a turn: to look for cycles as often as Python does
    # by itself is a tenth of the work.
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 20, 20)
    # Where it is installed (extra `fast`), uvloop makes a turn about a tenth cheaper.
    loop = {"use_uvloop": find_spec("uvloop") is not None}
    anyio.run(serve, settings, chosen, port, backend_options=loop)
    return 0


async def serve(settings: Settings, configured: config.Config, port: int | None) -> None:
    """Serve one client on stdio, or all who connect to the port; a signal to stop ends it in order.

    Raises ConfigError when the port can't be had.
    """
    provider = configured.endpoint.options if configured.endpoint else None
    model = configured.model.value if configured.model else None
    durability = configured.durability.value if configured.durability else "turn"
    listener = None if port is None else await listen(port)
    async with anyio.create_task_group() as group:
        await group.start(_until_signal, group.cancel_scope)  # before anyone is told that we listen
        async with started(
            settings, provider=provider, model=model, models=configured.models, durability=durability
        ) as runtime:
            if listener is None:
                await serve_stdio(runtime, settings)
            else:
                await serve_tcp(runtime, settings, listener)
        group.cancel_scope.cancel()


async def _until_signal(
    scope: anyio.CancelScope, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    with anyio.open_signal_receiver(*stopping_signals()) as signals:
        task_status.started()
        async for _ in signals:
            scope.cancel()
            return
