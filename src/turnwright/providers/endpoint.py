"""Where a provider's requests go, and the secrets on them that no message may show."""

import base64
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Self
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

from msgspec import Struct, field

from turnwright.errors import ConfigError

_SECRET_NAME = re.compile(r"auth|key|token|secret|cookie|password")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_SHORTEST_SECRET = 8
"""Shorter values ("none", "ollama") stand for the lack of a key; masking them would garble plain words."""


class Endpoint(Struct, frozen=True):
    """A model server: `name` for people, `url` without credentials, the `headers` of every request."""

    name: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    secrets: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r}, {self.shown!r})"  # what secrets there are stays untold

    @classmethod
    def at(cls, url: str, *, name: str, token: str | None = None, headers: Mapping[str, str] = {}) -> Self:
        """Check `url` and `headers`; `token` goes out as a bearer. Raises ConfigError."""
        parts = split_url(url)
        merged: dict[str, str] = {}
        secrets = {value for name, value in parse_qsl(parts.query) if _SECRET_NAME.search(name.lower())}
        if parts.username is not None:
            user, password = unquote(parts.username), unquote(parts.password or "")
            encoded = base64.b64encode(f"{user}:{password}".encode()).decode()
            merged["authorization"] = f"Basic {encoded}"
            secrets |= {password, parts.password or ""}
        if token and token.strip():
            merged["authorization"] = f"Bearer {token.strip()}"
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="")
        plain = cls(name, urlunsplit(bare), secrets=frozenset(secrets))
        return plain.with_headers(merged).with_headers(headers)

    def with_headers(self, headers: Mapping[str, str]) -> Self:
        """Return the endpoint with `headers` added, those of the same name replaced. Raises ConfigError."""
        added = {name.lower(): value for name, value in headers.items()}
        check_headers(added)
        secrets = {value for name, value in added.items() if _SECRET_NAME.search(name)}
        secrets |= {secret.rpartition(" ")[2] for secret in secrets}
        return type(self)(self.name, self.url, {**self.headers, **added}, self.secrets | secrets)

    @property
    def host(self) -> str:
        """Host and port, as written in the URL."""
        return urlsplit(self.url).netloc

    @property
    def shown(self) -> str:
        """The base URL as messages show it: without its query."""
        return urlunsplit(urlsplit(self.url)._replace(query=""))

    @property
    def has_credentials(self) -> bool:
        """Whether requests carry any secret."""
        return any(_SECRET_NAME.search(name) for name in self.headers)

    def to(self, path: str) -> str:
        """Return the URL of `path` below the base, with the base's query."""
        return _below(self.url, path)

    def socket(self, path: str) -> str:
        """Return the URL of a websocket at `path` below the base, with the base's query."""
        return f"ws{self.to(path).removeprefix('http')}"

    def mask(self, text: str) -> str:
        """Return `text` with every secret of this endpoint replaced by asterisks."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, "***")
        return text


@lru_cache
def _below(url: str, path: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path}"))


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise ConfigError, which names it, for a header that can't be sent."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name.lower()):
            raise ConfigError(f"{name.lower()!r} is no name for a header")
        if _CONTROL.search(value):
            raise ConfigError(f"the value of header {name.lower()!r} holds a control character")


@lru_cache
def split_url(url: str) -> SplitResult:
    """The parts of a base URL. Raises ConfigError when no requests can be sent there."""
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
        parts = SplitResult("", "", "", "", "")
    if not usable:
        raise ConfigError("the base URL of a model endpoint must be http://HOST or https://HOST, with a path")
    return parts
