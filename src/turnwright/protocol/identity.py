"""Whose GitHub token a session uses."""

import msgspec

HOST = "https://github.com"


class Identity(msgspec.Struct, frozen=True):
    """A user as an endpoint or an app knows them; `kind` says where the credentials came from."""

    login: str | None = None
    plan: str | None = None
    kind: str = "token"
    host: str = HOST
