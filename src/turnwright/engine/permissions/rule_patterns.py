"""What stands between the parentheses of a rule: a command, a file pattern or an address.

Each matches in two ways: narrowly, to allow, and widely, to deny.
"""

import os
import posixpath
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import msgspec

from turnwright.errors import ConfigError

if TYPE_CHECKING:
    from turnwright.tools.command_line import Segment
    from turnwright.tools.shell_words import Word

_PORTS = {"http": 80, "https": 443}


class CommandPattern(msgspec.Struct, frozen=True):
    """A command's words; with `open_ended`, any further words may follow."""

    words: tuple[str, ...]
    open_ended: bool

    @classmethod
    def parse(cls, argument: str) -> "CommandPattern":
        """Read `git status` or `git:*`, quoted as in a shell; raise ConfigError unless it is one command."""
        text = argument.removesuffix(":*").strip()
        if re.fullmatch(r"[\w./+\[\]-]+", text):
            return cls((text,), argument.endswith(":*"))
        from turnwright.tools.command_line import parse  # most sessions have no rules

        line = parse(text)
        if not line.complete or len({segment.text for segment in line.segments}) != 1 or line.write_targets:
            raise ConfigError(f"{text!r} is not one command")
        words = tuple(word for word in line.segments[0].words if word is not None)
        if line.segments[0].text != text or words != line.segments[0].words:
            raise ConfigError(f"{text!r} must be plain words; only `:*` at the end stands for others")
        return cls(words, argument.endswith(":*"))

    def allows(self, segment: "Segment") -> bool:
        """Whether the words are these, in this spelling, and no others where the rule names no others."""
        mine = segment.words[: len(self.words)] if self.open_ended else segment.words
        return mine == self.words and not segment.opaque

    def denies(self, segment: "Segment") -> bool:
        """Whether the words begin with these, options between them aside: `git -C x push` is `git push`."""
        return self._begins(segment.words, unknown=False)

    def may_deny(self, segment: "Segment") -> bool:
        """Whether the command could be this one, for all that its text tells."""
        return segment.opaque or self._begins(segment.words, unknown=True)

    def _begins(self, words: "tuple[Word, ...]", *, unknown: bool) -> bool:
        name = words[0] if words else None
        if name is None:
            return unknown
        if self.words[0] not in (name, PurePosixPath(name).name):
            return False
        wanted, after_option = list(self.words[1:]), False
        for word in words[1:]:
            if not wanted:
                break
            if word is None and unknown:
                return True
            is_option = word is None or word.startswith("-")
            if word == wanted[0]:
                wanted.pop(0)
            elif not is_option and not after_option:
                return False
            after_option = is_option
        return not wanted


class FilePattern(msgspec.Struct, frozen=True):
    """A path in which `*` stands for any characters but slashes, `?` for one, `**` for any folders.

    A path that ends in a slash means all that the folder holds.
    """

    text: str

    @classmethod
    def parse(cls, argument: str) -> "FilePattern":
        """Read a pattern; raise ConfigError if it climbs."""
        text = os.path.expanduser(argument)  # noqa: PTH111 (a Path would drop the last slash)
        if ".." in text.split("/"):
            raise ConfigError(f"{argument!r} must not hold `..`")
        return cls((text + "**" if text.endswith("/") else text).removeprefix("./"))

    def allows(self, path: str, cwd: Path) -> bool:
        """Whether what `path` leads to, links followed, is meant; relative patterns start at `cwd`."""
        start = "" if self.text.startswith("/") else re.escape(f"{os.path.realpath(cwd)}/")
        return "\0" not in path and _matches(start + _glob(self.text), os.path.realpath(cwd / path))

    def denies(self, path: str, cwd: Path) -> bool:
        """Whether the path, or what it leads to, is or lies below what is meant, wherever that starts."""
        if "\0" in path:
            return True
        start = "" if self.text.startswith("/") else "/(.*/)?"
        spellings = (os.path.realpath(cwd / path), os.path.normpath(cwd / path))
        return any(_matches(f"{start}{_glob(self.text)}(/.*)?", spelling) for spelling in spellings)


def _matches(expression: str, path: str) -> bool:
    return re.fullmatch(expression, path, re.DOTALL) is not None


_GLOB = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_WILDCARDS = {"**/": "(?:[^/]+/)*", "**": ".+", "*": "[^/]*", "?": "[^/]"}


def _glob(pattern: str) -> str:
    parts: list[str] = _GLOB.findall(pattern)
    return "".join(_WILDCARDS[part] if part in _WILDCARDS else re.escape(part) for part in parts)


class UrlPattern(msgspec.Struct, frozen=True):
    """A host, and where given its scheme, port and the path below which addresses lie.

    `subdomains` tells that the host was written `*.host`.
    """

    host: str
    subdomains: bool = False
    scheme: str | None = None
    port: int | None = None
    path: str = ""

    @classmethod
    def parse(cls, argument: str) -> "UrlPattern":
        """Read `example.com`, `*.example.com`, `localhost:8080` or an address, or raise ConfigError."""
        scheme, found, rest = argument.rpartition("://")
        try:
            parts = urlsplit(f"//{rest}")
            host, port = _ascii(parts.hostname or ""), parts.port
        except ValueError:
            raise ConfigError(f"{argument!r} is not a host or an address") from None
        bare = host.removeprefix("*.")
        if (found and scheme not in _PORTS) or not re.fullmatch(r"[a-z0-9._:-]+", bare) or parts.username:
            raise ConfigError(f"{argument!r} is not a host or an address with http or https")
        return cls(bare, bare != host, scheme or None, port, parts.path.rstrip("/"))

    def allows(self, url: str) -> bool:
        """Whether the address is on this host and port, by this scheme, and below this path."""
        try:
            parts = urlsplit(url)
            host, port = _ascii(parts.hostname or ""), parts.port
        except ValueError:
            return False
        # What clients read in different ways is not for a rule to allow.
        if re.search(r"[\\\s]|/\.|%2[ef]", url, re.IGNORECASE) or "@" in parts.netloc:
            return False
        default = _PORTS.get(parts.scheme)
        return (
            default is not None
            and self.scheme in (None, parts.scheme)
            and (host.endswith("." + self.host) if self.subdomains else host == self.host)
            and (port or default) == (self.port or default)
            and f"{parts.path}/".startswith(f"{self.path}/")
        )

    def denies(self, url: str) -> bool:
        """Whether the address is on this host or a subdomain, by any scheme; a doubtful address is."""
        try:
            parts = urlsplit(url.replace("\\", "/"))
            host, port = _ascii((parts.hostname or "").rstrip(".")), parts.port
        except ValueError:
            return True
        path = posixpath.normpath(f"/{unquote(parts.path)}").replace("//", "/")
        return (
            (host == self.host or host.endswith("." + self.host))
            and self.port in (None, port or _PORTS.get(parts.scheme))
            and f"{path}/".startswith(f"{self.path}/")
        )


def _ascii(host: str) -> str:
    """The host as it is looked up. Raises ValueError (UnicodeError) where it can't be."""
    return host if host.isascii() else host.encode("idna").decode()
