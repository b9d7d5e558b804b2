"""The command line's grammar."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, TypeAlias

from turnwright import __version__

MODES = ("interactive", "plan", "autopilot")
FORMATS = ("text", "json", "stream-json")
LOG_LEVELS = ("none", "error", "warning", "info", "debug", "all", "default")
DURABILITIES = ("turn", "event", "none")
USAGE = 2
LAST_PORT = 65535

DESCRIPTION = "An agent that works in a folder with a language model and tools, and accounts for every turn."
EXAMPLES = """\
examples:
  turnwright -p 'How many lines does data.csv have?'
  git diff | turnwright -p 'Review this.' --output-format json
  turnwright -p 'Make the tests pass.' --autopilot --allow-tool 'shell(pytest:*)' --allow-tool write
  turnwright --continue -p 'And now the docs.'
  turnwright models pull && turnwright -p 'What is in notes.txt?' --model local

exit status: 0 done, 1 the run failed, 2 wrong usage, 3 the model gave no answer, 130 interrupted
"""


class Parser(argparse.ArgumentParser):
    """A parser that takes no abbreviations, and answers a mistake in two lines."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message}\nTry `{self.prog} --help`.\n")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line; exits with status 2 when it is wrong."""
    main = parser()
    given = main.parse_args(argv)
    if given.command is None and given.prompt is None and argv:
        main.error("there is nothing to do: give a prompt with -p, or a command")
    if given.command is not None and given.prompt is not None:
        main.error(f"-p and the command {given.command} don't go together")
    return given


def seconds(text: str) -> float | None:
    """A time in seconds; 0 stands for none. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"a number of seconds was expected, not {text!r}")
    return value or None


def port_number(text: str) -> int:
    """A port of TCP; 0 stands for any. Raises ArgumentTypeError."""
    if not text.isascii() or not text.isdigit() or int(text) > LAST_PORT:
        raise argparse.ArgumentTypeError(f"a port from 0 to {LAST_PORT} was expected, not {text!r}")
    return int(text)


def short_help() -> str:
    """What `turnwright` alone says."""
    return f"{DESCRIPTION}\n\n{EXAMPLES}\nAll options and commands: turnwright --help"


def parser() -> Parser:
    """The grammar of the command line, save what the official clients start (see `headless`)."""
    main = Parser(
        prog="turnwright",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    main.add_argument("--version", action="version", version=f"turnwright {__version__}")
    _add_run(main)
    commands = main.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    _add_serve(commands)
    _add_sessions(commands)
    _add_audit(commands)
    _add_recordings(commands)
    _add_models(commands)
    doctor = _command(commands, "doctor", "say what is configured, what is missing and what to do")
    doctor.add_argument("--probe", action="store_true", help="also ask the endpoint for its models")
    schema = _command(commands, "schema", "print the JSON Schema of the events and methods")
    schema.add_argument("name", nargs="?", metavar="NAME", help="'events', 'methods', or the name of one")
    return main


def _add_run(main: Parser) -> None:
    run = main.add_argument_group("a run")
    run.add_argument(
        "-p",
        "--prompt",
        metavar="PROMPT",
        help="what to do; '-' reads it from stdin; piped stdin is appended",
    )
    run.add_argument(
        "--attach",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="attach a file, a picture or a directory; may be given again",
    )
    run.add_argument("-C", dest="folder", type=Path, metavar="DIR", help="work in this folder")
    run.add_argument("--model", help="the model, or 'local' for the local one")
    run.add_argument("--agent", metavar="NAME", help="the custom agent that is to answer")
    run.add_argument("--reasoning-effort", metavar="LEVEL", help="how hard the model shall think")
    run.add_argument(
        "--output-format",
        choices=FORMATS,
        default="text",
        help="the answer, one object, or each event on a line of its own",
    )
    run.add_argument(
        "--schema",
        type=Path,
        metavar="FILE",
        help="a JSON Schema: the answer is JSON that fits it, or the run fails",
    )
    run.add_argument(
        "--stream", action=argparse.BooleanOptionalAction, help="let the endpoint stream its replies"
    )
    _add_durability(run)
    run.add_argument(
        "--record", type=Path, metavar="FILE", help="write what the model was told and replied to a file"
    )
    mode = run.add_mutually_exclusive_group()
    mode.add_argument("--mode", choices=MODES, help="plan first, ask as you go, or go on to the end")
    mode.add_argument(
        "--autopilot", dest="mode", action="store_const", const="autopilot", help="same as --mode autopilot"
    )
    session = run.add_mutually_exclusive_group()
    session.add_argument("--resume", metavar="ID", help="go on with a session; the start of its id is enough")
    session.add_argument(
        "--continue",
        dest="continue_last",
        action="store_true",
        help="go on with the last session of this folder",
    )
    allow = main.add_argument_group(
        "permissions",
        "Reading in the folder is allowed. Writing and running are asked for on a terminal, and denied "
        "without one. A rule is KIND or KIND(ARGUMENT): write, 'shell(git:*)', 'read(docs/**)'.",
    )
    _add_rules(allow)


# argparse gives the class no public name.
def _add_rules(to: argparse._ActionsContainer) -> None:  # pyright: ignore[reportPrivateUsage]
    to.add_argument("--allow-all", action="store_true", help="allow everything that no rule denies")
    to.add_argument("--allow-tool", action="append", default=[], metavar="RULE", help="allow it unasked")
    to.add_argument("--deny-tool", action="append", default=[], metavar="RULE", help="never allow it")


# argparse gives the class no public name.
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # pyright: ignore[reportPrivateUsage]


def _add_serve(commands: Commands) -> None:
    serve = _command(commands, "serve", "serve the Copilot SDK's clients, on stdio or TCP")
    serve.add_argument(
        "--port", type=port_number, help="listen on this port of the loopback; 0 takes a free one"
    )
    serve.add_argument(
        "--session-idle-timeout",
        type=seconds,
        metavar="SECONDS",
        help="unload what nobody has used for so long, until it is used again; 0, the default: never",
    )
    serve.add_argument("--log-level", choices=LOG_LEVELS, default="default", help="what to log on stderr")
    _add_durability(serve)


def _add_durability(to: argparse._ActionsContainer) -> None:  # pyright: ignore[reportPrivateUsage]
    to.add_argument(
        "--durability",
        choices=DURABILITIES,
        help="sync the log at each turn's end, for each event, or leave that to the system",
    )


def _add_sessions(commands: Commands) -> None:
    sessions = _command(commands, "sessions", "list, show, repair and delete sessions")
    actions = sessions.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = _command(actions, "list", "list all sessions, the one used last first")
    show = _command(actions, "show", "print what was said and done in a session")
    repair = _command(actions, "repair", "mend a session's log, and keep the original beside it")
    delete = _command(actions, "delete", "remove a session with its log")
    for action in (listing, show):
        action.add_argument("--json", action="store_true", help="one JSON object on each line")
    for action in (show, repair):
        action.add_argument("id", metavar="ID", help="a session's id, or the start of it")
    delete.add_argument("id", metavar="ID", help="a session's whole id")


def _add_audit(commands: Commands) -> None:
    audit = _command(commands, "audit", "check logs: is every turn and call accounted for")
    audit.add_argument("log", nargs="?", metavar="ID|PATH", help="one session, or a log elsewhere; else all")
    audit.add_argument("--json", action="store_true", help="one JSON object on each line, one line a log")


def _add_recordings(commands: Commands) -> None:
    record = _command(commands, "record", "write what a session's model was told and replied to a file")
    record.add_argument("id", metavar="ID", help="a session's id, or the start of it")
    record.add_argument("-o", "--output", type=Path, metavar="FILE", help="the file; else stdout")
    replay = _command(commands, "replay", "run a recording again without a model; show the first difference")
    replay.add_argument("file", type=Path, metavar="FILE", help="what `turnwright record` wrote")
    replay.add_argument("-C", dest="folder", type=Path, metavar="DIR", help="work in this folder")
    replay.add_argument(
        "--tools",
        choices=("recorded", "run"),
        default="recorded",
        help="give the recorded results of calls (the default), or run the tools",
    )
    replay.add_argument(
        "--system",
        choices=("own", "recorded"),
        default="own",
        help="the system prompt as it is now (the default), or the recorded one",
    )
    replay.add_argument(
        "--from",
        dest="fork",
        type=int,
        metavar="N",
        help="let a model go on from the N-th request; see --model",
    )
    replay.add_argument("--model", help="the model that goes on; else the configured one")
    _add_rules(replay)


def _add_models(commands: Commands) -> None:
    models = _command(commands, "models", "list models, and fetch the local one")
    actions = models.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = _command(actions, "list", "list the endpoint's models and the local one")
    listing.add_argument("--json", action="store_true", help="one JSON object on each line")
    _command(actions, "pull", "fetch the local model")


def _command(commands: Commands, name: str, summary: str) -> Parser:
    return commands.add_parser(name, help=summary, description=summary.capitalize() + ".", allow_abbrev=False)
