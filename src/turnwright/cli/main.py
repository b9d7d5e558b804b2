"""The command `turnwright`."""

import gc
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from turnwright.errors import OutputError, TurnwrightError
from turnwright.providers import certificates

FAILED = 1
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line (the process's own by default); the result is the exit status."""
    argv = sys.argv[1:] if argv is None else argv
    try:
        return _dispatch(argv)
    except TurnwrightError as error:
        # What a request was called is the wire's business.
        print(f"turnwright: {str(error).rpartition(' failed with message: ')[2]}", file=sys.stderr)  # noqa: T201
        if isinstance(error, OutputError):
            _drop_output()
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return FAILED


def _drop_output() -> None:
    """What is still in the buffer of a stdout that takes nothing must not raise again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _loading() -> Generator[None]:
    """Load modules without a search for garbage, which takes a tenth of the time: they all stay.

    What can be loaded later is.
    """
    certificates.postpone()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _dispatch(argv: Sequence[str]) -> int:
    if "--headless" in argv:
        with _loading():
            from turnwright.cli import headless

        return headless.main(list(argv))
    from turnwright.cli import arguments, output

    output.prepare()
    given = arguments.parse(argv)
    match given.command:
        case "serve":
            with _loading():
                from turnwright.cli import headless
                from turnwright.server.settings import from_environment

            settings = from_environment(os.environ)
            settings.session_idle_timeout = given.session_idle_timeout
            return headless.run(settings, given.log_level, given.port, given.durability)
        case "sessions":
            from turnwright.cli import sessions

            return sessions.main(given)
        case "audit":
            from turnwright.cli import audit

            return audit.main(given)
        case "record":
            from turnwright.cli import recordings

            return recordings.record(given)
        case "replay":
            from turnwright.cli import recordings

            return recordings.main(given)
        case "models":
            from turnwright.cli import models

            return models.main(given)
        case "doctor":
            from turnwright.cli import doctor

            return doctor.main(given.folder or Path.cwd(), probe=given.probe)
        case "schema":
            from turnwright.cli import schema

            return schema.main(given.name)
        case _ if given.prompt is not None:
            with _loading():
                from turnwright.cli import run

            return run.main(given)
        case _:
            print(arguments.short_help())  # noqa: T201
            return 0


if __name__ == "__main__":
    sys.exit(main())
