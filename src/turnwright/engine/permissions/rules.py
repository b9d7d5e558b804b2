"""Rules that a user gives beforehand: what may be done unasked, and what may not be done at all.

A rule is `KIND` or `KIND(ARGUMENT)`:

    shell   shell(git status)   shell(git:*)      a command, exactly; with any further arguments
    read    read(docs/**)       write(src/)       files by a pattern; all in a folder
    url     url(example.com)    url(https://example.com/docs)
    SERVER  SERVER(tool)        mcp               an MCP server's tools, one of them; any server's
    TOOL    custom-tool(TOOL)   custom-tool       a tool of the app; any of them
    memory

One rule is read in two ways, each erring on the safe side: to allow narrowly, to deny widely. So `shell(rm)`
allows the bare `rm` and denies `rm` with any arguments; `write(.env)` allows the file in the working
directory and denies that name anywhere; `url(example.com)` allows that host and denies its subdomains too.
Paths are case-sensitive and compared with links followed, so an absolute pattern to allow must name the real
folder.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from turnwright.engine.permissions.rule_patterns import CommandPattern, FilePattern, UrlPattern
from turnwright.errors import ConfigError
from turnwright.protocol.permissions import (
    PERMISSION_KINDS,
    CustomTool,
    Mcp,
    Memory,
    PermissionRequest,
    Read,
    Shell,
    Url,
    Write,
)

if TYPE_CHECKING:
    from turnwright.tools.command_line import CommandLine
    from turnwright.tools.shell_words import Word

Pattern = CommandPattern | FilePattern | UrlPattern | str

_FORM = re.compile(r"([^\s()]+)(?:\((.*)\))?", re.DOTALL)
_MOVES = frozenset(["cd", "pushd", "popd"])


class Rule(msgspec.Struct, frozen=True):
    """One rule: a kind of permission, or the name of an MCP server or tool, and what it is limited to."""

    kind: str
    pattern: Pattern | None = None

    @classmethod
    def parse(cls, text: str) -> "Rule":
        """Read a rule as it is written on the command line; raise ConfigError that says what is wrong."""
        form = _FORM.fullmatch(text.strip())
        if form is None:
            raise ConfigError(f"Permission rule {text!r}: it must be KIND or KIND(ARGUMENT)")
        kind, argument = form[1], form[2]
        if kind not in PERMISSION_KINDS and kind.lower() in PERMISSION_KINDS:
            raise ConfigError(f"Permission rule {text!r}: the kind is written {kind.lower()}, in lower case")
        try:
            return cls(kind, None if argument is None else _pattern(kind, argument.strip()))
        except ConfigError as error:
            raise ConfigError(f"Permission rule {text!r}: {error}") from None

    def allows(self, request: PermissionRequest, cwd: Path) -> bool:
        """Whether a request other than for a command line is surely meant."""
        match request, self.pattern:
            case Read(path=path) | Write(file_name=path), FilePattern() as pattern:
                return self._is_for(request) and pattern.allows(path, cwd)
            case Url(url=url), UrlPattern() as pattern:
                return pattern.allows(url)
            case _:
                return self._is_for(request)

    def denies(self, request: PermissionRequest, cwd: Path) -> bool:
        """Whether a request other than for a command line may be meant."""
        match request, self.pattern:
            case Read(path=path) | Write(file_name=path), FilePattern() as pattern:
                return self._is_for(request) and pattern.denies(path, cwd)
            case Url(url=url), UrlPattern() as pattern:
                return pattern.denies(url)
            case _:
                return self._is_for(request)

    def denies_line(self, line: "CommandLine", cwd: Path) -> bool:
        """Whether a command line runs, writes, reads or fetches what the rule names."""
        match self.kind, self.pattern:
            case "shell", None:
                return True
            case "shell", CommandPattern() as pattern:
                return any(map(pattern.denies, line.segments))
            case "write", None:
                return line.has_write_redirection
            case "write", FilePattern() as pattern:
                return any(
                    target is not None and pattern.denies(target, cwd) for target in line.write_targets
                )
            case "read", FilePattern() as pattern:
                return any(pattern.denies(path, cwd) for path in line.paths)
            case "url", None:
                return bool(line.urls)
            case "url", UrlPattern() as pattern:
                return any(map(pattern.denies, line.urls))
            case _:
                return False

    def may_deny_line(self, line: "CommandLine") -> bool:
        """Whether a command line could run or write what the rule names, for all that its text tells."""
        match self.kind, self.pattern:
            case "shell", CommandPattern() as pattern:
                return not line.complete or any(map(pattern.may_deny, line.segments))
            case "write", FilePattern():
                return not line.complete or not _is_known(line.write_targets, line)
            case _:
                return False

    def _is_for(self, request: PermissionRequest) -> bool:
        match request:
            case Read():
                return self.kind == "read"
            case Write():
                return self.kind == "write"
            case Url():
                return self.kind == "url"
            case Memory():
                return self.kind == "memory"
            case Mcp(server_name=server, tool_name=tool):
                return self.kind == "mcp" or (self.kind == server and self.pattern in (None, tool))
            case CustomTool(tool_name=tool):
                is_named = self.kind == tool and self.pattern is None
                return is_named or (self.kind == "custom-tool" and self.pattern in (None, tool))
            case Shell():
                return False


class Rules(msgspec.Struct, frozen=True):
    """What is allowed and what is denied; where both match, it is denied."""

    allow: tuple[Rule, ...]
    deny: tuple[Rule, ...]

    def decide(self, request: PermissionRequest, cwd: Path) -> Literal["allow", "deny"] | None:
        """Say what the rules say of a request, None if nothing; `cwd` is where relative paths start.

        A command line is denied if any command in it is. It is allowed if each is, nothing in it is hidden
        and each file that it writes is allowed; a bare `shell` allows any line that no deny rule could mean.
        """
        if isinstance(request, Shell):
            from turnwright.tools.command_line import parse

            return self._decide_line(parse(request.full_command_text), cwd)
        if any(rule.denies(request, cwd) for rule in self.deny):
            return "deny"
        if any(rule.allows(request, cwd) for rule in self.allow):
            return "allow"
        return None

    def _decide_line(self, line: "CommandLine", cwd: Path) -> Literal["allow", "deny"] | None:
        if any(rule.denies_line(line, cwd) for rule in self.deny):
            return "deny"
        if any(rule.may_deny_line(line) for rule in self.deny):
            return None
        if Rule("shell") in self.allow or (self._allows_commands(line) and self._allows_writes(line, cwd)):
            return "allow"
        return None

    def _allows_commands(self, line: "CommandLine") -> bool:
        patterns = [rule.pattern for rule in self.allow if isinstance(rule.pattern, CommandPattern)]
        allowed = [any(pattern.allows(segment) for pattern in patterns) for segment in line.segments]
        return line.complete and bool(allowed) and all(allowed)

    def _allows_writes(self, line: "CommandLine", cwd: Path) -> bool:
        def is_allowed(target: "Word") -> bool:
            if target is None:
                return False
            request = Write(intention="", file_name=target, diff="", can_offer_session_approval=False)
            return any(rule.allows(request, cwd) for rule in self.allow)

        return _is_known(line.write_targets, line) and all(map(is_allowed, line.write_targets))


def _is_known(targets: "tuple[Word, ...]", line: "CommandLine") -> bool:
    """Whether the text tells where each target lies, which a `cd` before it may change."""
    moves = any(segment.name in _MOVES or segment.opaque for segment in line.segments)
    return all(target is not None and not (moves and not target.startswith("/")) for target in targets)


def _pattern(kind: str, argument: str) -> Pattern:
    if not argument:
        raise ConfigError("there is nothing between the parentheses; leave them out to mean all")
    match kind:
        case "shell":
            return CommandPattern.parse(argument)
        case "read" | "write":
            return FilePattern.parse(argument)
        case "url":
            return UrlPattern.parse(argument)
        case "memory":
            raise ConfigError("memory takes no argument")
        case "mcp":
            raise ConfigError("the tool of an MCP server is written SERVER(tool)")
        case _:
            return argument
