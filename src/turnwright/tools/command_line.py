"""What a shell command line would run, write, touch and fetch, as far as its text tells."""

import re

import msgspec

from turnwright.tools.shell_syntax import is_read_alike
from turnwright.tools.shell_tree import Node, parse_tree
from turnwright.tools.shell_words import LITERALS, Word, word
from turnwright.tools.wrapped_commands import is_harmless_variable, unwrap

LONGEST = 20_000
"""Characters beyond which a command line isn't looked into."""

MOST_HEREDOCS = 100
"""Here-documents beyond which it isn't; the time to parse them grows with the square of their number."""

DEEPEST = 8
"""Commands within the arguments of commands that are followed."""

_URL = re.compile(r"https?://[^\s'\"<>|;&`\\^{}()]+", re.IGNORECASE)
_WRITES = frozenset([">", ">>", ">|", "&>", "&>>", "<>", ">&"])
_NO_FILE = re.compile(r"/dev/(null|stdout|stderr)|\d+-?|-")
_NETWORK = ("/dev/tcp/", "/dev/udp/")
_SIMPLE_EXPANSION = re.compile(
    rb"\$\{#?\w+\}|\$\{(\w+|[@*])(:?[-+?]|##?|%%?|/[/#%]?|\^\^?|,,?).*\}|\$\{[@*]\}", re.DOTALL
)
_NUMBERS_ONLY = re.compile(rb"[\d\s()+*/%<>=!&|^~?:,$\[\]-]*")
_EVALUATES = re.compile(rb"\s-(v|R|eq|ne|lt|le|gt|ge)\s")
_DECLARATION_OPTIONS = frozenset([b"-x", b"-r", b"-g", b"-f", b"-v"])


class Segment(msgspec.Struct, frozen=True):
    """One simple command.

    `words` are its name and arguments, None where only the shell can tell; `name` is the first. `text` is
    what the line says, that of the command around it where a command runs another. An `opaque` one runs, or
    does to the commands after it, something that its words don't show.
    """

    name: str | None
    words: tuple[Word, ...]
    text: str
    opaque: bool = False


class CommandLine(msgspec.Struct, frozen=True):
    """A command line taken apart.

    `segments` are all simple commands in it, however deep. `write_targets` are the files that redirections
    write, None for a name that only the shell can tell. `paths` are the words that look like paths, `urls`
    the addresses. A line that isn't `complete` may run more than what was found.
    """

    segments: tuple[Segment, ...]
    write_targets: tuple[Word, ...]
    paths: tuple[str, ...]
    urls: tuple[str, ...]
    complete: bool

    @property
    def has_write_redirection(self) -> bool:
        return bool(self.write_targets)


def parse(text: str) -> CommandLine:
    """Take a command line for bash apart; never raises."""
    return _parse(text, depth=0)


def _parse(text: str, depth: int) -> CommandLine:
    urls = tuple(dict.fromkeys(url.rstrip(".,:!?") for url in _URL.findall(text)))
    unknown = (None,) if ">" in text else ()
    if len(text) > LONGEST or text.count("<<") > MOST_HEREDOCS or depth > DEEPEST:
        return CommandLine(segments=(), write_targets=unknown, paths=(), urls=urls, complete=False)
    root = parse_tree(text.encode(errors="replace"))
    found = _Findings(depth)
    for node in root:
        found.look_at(node)
    complete = found.complete and is_read_alike(text, root)
    return CommandLine(
        segments=tuple(found.segments),
        write_targets=tuple(found.write_targets) + (() if complete else unknown),
        paths=tuple(dict.fromkeys(found.paths)),
        urls=urls,
        complete=complete,
    )


class _Findings:
    """What the nodes of a tree that were looked at so far amount to."""

    def __init__(self, depth: int) -> None:
        self.segments: list[Segment] = []
        self.write_targets: list[Word] = []
        self.paths: list[str] = []
        self.complete = True
        self._depth = depth

    def look_at(self, node: Node) -> None:
        if node.type in LITERALS:
            self._path(node)
        match node.type:
            case "command":
                self._command(node)
            case "declaration_command" | "unset_command":
                self._declaration(node)
            case "test_command":
                self._add(node, (node.children[0].text.decode(), None), opaque=_evaluates(node))
            case "variable_assignment" if node.parent_type not in ("command", "declaration_command"):
                if not _is_harmless(node):
                    self._add(node)
            case "for_statement" if not _is_harmless(node):
                self._add(node)
            case "subscript" | "c_style_for_statement":
                self._add(node)
            case "arithmetic_expansion" if not _NUMBERS_ONLY.fullmatch(node.text):
                self._add(node)
            case "compound_statement" if node.text.startswith(b"(("):
                self._add(node)
            case "expansion" if not _SIMPLE_EXPANSION.fullmatch(node.text):
                self._add(node)
            case "file_redirect":
                self._redirection(node)
            case _:
                pass

    def _add(self, node: Node, words: tuple[Word, ...] = (None,), *, opaque: bool = True) -> None:
        """Note a command; one without words is the shell's own evaluation, which can run or set anything."""
        text = node.text.decode(errors="replace")
        self.segments.append(Segment(name=words[0], words=words, text=text, opaque=opaque))

    def _command(self, node: Node) -> None:
        assignments = [child for child in node.children if child.type == "variable_assignment"]
        words = tuple(
            word(child)
            for child in node.children
            if child.type != "variable_assignment" and not child.type.endswith("_redirect")
        )
        text = node.text.decode(errors="replace")
        self._run(words, text, self._depth, opaque=not all(map(_is_harmless, assignments)))

    def _run(self, words: tuple[Word, ...], text: str, depth: int, *, opaque: bool = False) -> None:
        inner = unwrap(words)
        too_deep = depth >= DEEPEST
        self.segments.append(
            Segment(
                name=words[0] if words else None,
                words=words,
                text=text,
                opaque=opaque or inner.opaque or (too_deep and inner.runs_others),
            )
        )
        if too_deep:
            return
        for command in inner.commands:
            self._run(command, text, depth + 1)
        for script in inner.scripts:
            line = _parse(script, depth + 1)
            self.segments += line.segments
            self.write_targets += line.write_targets
            self.paths += line.paths
            self.complete = self.complete and line.complete

    def _declaration(self, node: Node) -> None:
        name, *arguments = node.children
        opaque = not all(map(_is_plain_declaration, arguments))
        self._add(node, (name.text.decode(), *map(word, arguments)), opaque=opaque)

    def _redirection(self, node: Node) -> None:
        operator = next((child.type for child in node.children if not child.named), "")
        for target in (word(child) for child in node.children if child.type in LITERALS):
            writes = operator in _WRITES and (target is None or not _NO_FILE.fullmatch(target))
            if writes or (target is not None and target.startswith(_NETWORK)):
                self.write_targets.append(target)

    def _path(self, node: Node) -> None:
        parent = node.parent_type
        if parent in LITERALS:
            return
        text = word(node) or node.text.decode(errors="replace").strip("\"'")
        if text.startswith("-"):
            text = text.partition("=")[2]
        if (
            text != "/dev/null"
            and "://" not in text
            and _looks_like_path(text)
            and (parent != "command_name" or "/" in text)
        ):
            self.paths.append(text)


def _looks_like_path(text: str) -> bool:
    if re.search(r"\s", text):
        return text.startswith(("/", "~/", "./", "../"))
    return "/" in text or "." in text or text.startswith("~")


def _is_harmless(node: Node) -> bool:
    """Whether the variable that an assignment or a loop sets is one that no command minds."""
    name = node.child("variable_name")
    return name is not None and is_harmless_variable(name.text.decode(errors="replace"))


def _is_plain_declaration(argument: Node) -> bool:
    match argument.type:
        case "variable_assignment":
            return _is_harmless(argument)
        case "variable_name":
            return is_harmless_variable(argument.text.decode(errors="replace"))
        case _:
            return argument.text in _DECLARATION_OPTIONS


def _evaluates(test: Node) -> bool:
    """Whether a test takes an operand for arithmetic, whose subscripts may hold commands."""
    text = test.text
    return _EVALUATES.search(text) is not None and (text.startswith(b"[[") or b" -v " in text)
