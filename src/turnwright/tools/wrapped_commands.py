"""Commands whose arguments are commands: what `env`, `sudo`, `xargs`, `bash -c` and their like will run."""

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

import msgspec

from turnwright.tools.shell_words import Word

Words = tuple[Word, ...]


class Wrapped(msgspec.Struct, frozen=True):
    """What a command runs: commands by their words, scripts by their text.

    `opaque` tells that it runs, or does to the shell, something that its words don't show.
    """

    commands: tuple[Words, ...] = ()
    scripts: tuple[str, ...] = ()
    opaque: bool = False

    @property
    def runs_others(self) -> bool:
        return bool(self.commands or self.scripts)


NOTHING = Wrapped()
OPAQUE = Wrapped(opaque=True)

RESERVED = frozenset((
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while", "{", "}",
))  # fmt: skip
"""Words that are syntax where a command may begin."""

_HARMLESS_VARIABLE = re.compile(r"[a-z][a-z0-9]*|LANG|LC_[A-Z]+|TZ|NO_COLOR|CI|COLUMNS")


def is_harmless_variable(name: str) -> bool:
    """Whether setting it can't change which program a command runs, or what else that program runs.

    Settings like PATH, LD_PRELOAD, BASH_ENV, GIT_PAGER or http_proxy can, and no list names them all, so only
    short lower-case names, which scripts keep for themselves, and a few known ones pass.
    """
    return _HARMLESS_VARIABLE.fullmatch(name) is not None


class _Options(msgspec.Struct, frozen=True):
    """How to step over a wrapper's own arguments to the command that it runs."""

    flags: tuple[str, ...] = ()
    with_value: tuple[str, ...] = ()
    operands: int = 0
    takes_assignments: bool = False
    reads_arguments: bool = False


_WRAPPERS = {
    "builtin": _Options(),
    "busybox": _Options(),
    "chrt": _Options(flags=("-b", "-f", "-i", "-o", "-r"), operands=1),
    "command": _Options(flags=("-p",)),
    "doas": _Options(flags=("-n",), with_value=("-u",)),
    "env": _Options(flags=("-", "-i", "--ignore-environment"), with_value=("-u",), takes_assignments=True),
    "exec": _Options(flags=("-c", "-l"), with_value=("-a",)),
    "ionice": _Options(flags=("-t",), with_value=("-c", "-n", "--class", "--classdata")),
    "nice": _Options(with_value=("-n", "--adjustment")),
    "nohup": _Options(),
    "setsid": _Options(flags=("-c", "-f", "-w", "--ctty", "--fork", "--wait")),
    "stdbuf": _Options(with_value=("-i", "-o", "-e", "--input", "--output", "--error")),
    "sudo": _Options(
        flags=("-n", "-E", "-H", "-b", "-k", "-S"),
        with_value=("-u", "-g", "-p", "-C"),
        takes_assignments=True,
    ),
    "taskset": _Options(flags=("-c",), operands=1),
    "time": _Options(flags=("-p",), takes_assignments=True),
    "timeout": _Options(
        flags=("-v", "--verbose", "--foreground", "--preserve-status"),
        with_value=("-k", "-s", "--kill-after", "--signal"),
        operands=1,
    ),
    "toybox": _Options(),
    "xargs": _Options(
        flags=("-0", "-r", "-t", "-x", "--null", "--no-run-if-empty", "--verbose"),
        with_value=("-a", "-d", "-E", "-I", "-L", "-n", "-P", "-s", "--max-args", "--max-procs"),
        reads_arguments=True,
    ),
}


def unwrap(words: Words) -> Wrapped:
    """What the command with these words runs besides itself; a word that is None may be anything."""
    name = words[0] if words else None
    if name is None:
        return OPAQUE
    program = PurePosixPath(name).name
    if program in _WRAPPERS and program != "command":
        return _wrapped(words[1:], _WRAPPERS[program])
    return _SPECIAL.get(program, _runs_nothing)(words[1:])


def _wrapped(words: Words, options: _Options) -> Wrapped:
    rest = _after_options(words, options)
    if rest is None or None in rest[: options.operands]:
        return OPAQUE
    rest, opaque = rest[options.operands :], False
    while options.takes_assignments and rest and rest[0] is not None and "=" in rest[0]:
        opaque = opaque or not is_harmless_variable(rest[0].partition("=")[0])
        rest = rest[1:]
    if not rest:
        return Wrapped(opaque=opaque)
    if options.reads_arguments:
        rest = (*_filled_in(rest), None)
    return Wrapped(commands=(rest,), opaque=opaque or rest[0] is None or rest[0] in RESERVED)


def _after_options(words: Words, options: _Options) -> Words | None:
    at = 0
    while at < len(words):
        option = words[at]
        if option is None:
            return None
        if option == "--":
            return words[at + 1 :]
        if not option.startswith("-"):
            break
        if option in options.with_value:
            at += 2
        elif option in options.flags or _carries_value(option, options.with_value):
            at += 1
        else:
            return None
    return words[at:]


def _carries_value(option: str, with_value: tuple[str, ...]) -> bool:
    return any(option.startswith(name + "=" if name.startswith("--") else name) for name in with_value)


def _filled_in(words: Words) -> Words:
    """The words of a command in which `{}` stands for names that are found later."""
    return tuple(None if word is None or "{}" in word else word for word in words)


def _shell(words: Words) -> Wrapped:
    script_follows = False
    at = 0
    while at < len(words):
        option = words[at]
        if option is None or not option.startswith(("-", "+")):
            break
        if option not in ("--login", "--norc", "--noprofile", "--posix"):
            if not re.fullmatch(r"[-+][abcefhklmnoptuvxBCEHPT]+", option):
                return OPAQUE
            script_follows = script_follows or (option[0] == "-" and "c" in option)
            at += option.count("o")
        at += 1
    script = words[at] if script_follows and at < len(words) else None
    return OPAQUE if script is None else Wrapped(scripts=(script,))


def _eval(words: Words) -> Wrapped:
    literal = [word for word in words if word is not None]
    return Wrapped(scripts=(" ".join(literal),)) if len(literal) == len(words) else OPAQUE


def _find(words: Words) -> Wrapped:
    if None in words:
        return OPAQUE
    commands: list[Words] = []
    rest = iter(words)
    for word in rest:
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            command = _up_to_its_end(rest)
            if not command:
                return OPAQUE
            commands.append(_filled_in(tuple(command)))
    return Wrapped(commands=tuple(commands))


def _up_to_its_end(rest: Iterator[Word]) -> list[Word]:
    """The words before the `;` or `{} +` that ends a command of find's; none where the end is missing."""
    command: list[Word] = []
    for word in rest:
        if word == ";" or (word == "+" and command[-1:] == ["{}"]):
            return command
        command.append(word)
    return []


def _command_query(words: Words) -> Wrapped:
    """`command -v NAME` only says what NAME is."""
    return NOTHING if words[:1] in (("-v",), ("-V",)) else _wrapped(words, _WRAPPERS["command"])


def _printf(words: Words) -> Wrapped:
    return OPAQUE if words and (words[0] is None or words[0].startswith("-v")) else NOTHING


def _test(words: Words) -> Wrapped:
    """`-v` evaluates its operand, subscripts with commands in them included."""
    return OPAQUE if None in words or "-v" in words or "-R" in words else NOTHING


def _runs_nothing(_: Words) -> Wrapped:
    return NOTHING


def _is_opaque(_: Words) -> Wrapped:
    return OPAQUE


_CHANGES_THE_SHELL = (
    ".", "alias", "bind", "complete", "coproc", "enable", "fc", "getopts", "hash", "let", "mapfile", "read",
    "readarray", "source", "trap",
)  # fmt: skip
_HIDES_COMMANDS = (
    "chroot", "csh", "fish", "flock", "parallel", "runuser", "script", "strace", "su", "tcsh", "unshare",
    "watch", "zsh",
)  # fmt: skip
_SPECIAL: dict[str, Callable[[Words], Wrapped]] = {
    **dict.fromkeys(["ash", "bash", "dash", "ksh", "sh"], _shell),
    **dict.fromkeys([*_CHANGES_THE_SHELL, *_HIDES_COMMANDS], _is_opaque),
    "command": _command_query,
    "eval": _eval,
    "find": _find,
    "printf": _printf,
    "test": _test,
}
