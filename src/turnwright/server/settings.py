"""What the one who starts the runtime decides for all connections."""

import os
from collections.abc import Mapping
from pathlib import Path

import anyio
import msgspec

PROTOCOL_VERSION = 3
TOKEN_VARIABLES = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")


class Settings(msgspec.Struct):
    """`connection_token` is asked for at `connect`; `github_token` goes with `COPILOT_API_URL` alone.

    At `users_url` is asked whose token a session brings; without it, nobody is. A session that nobody has
    used for `session_idle_timeout` seconds is unloaded; None keeps all. With `shows_endpoints` a client may
    ask for a session's endpoint, its key included.
    """

    home: Path
    connection_token: str | None = None
    github_token: str | None = None
    auth_type: str | None = None
    api_url: str | None = None
    users_url: str | None = None
    session_idle_timeout: float | None = None
    shows_endpoints: bool = False
    stopping: anyio.Event = msgspec.field(default_factory=anyio.Event)


def home(environment: Mapping[str, str] = os.environ) -> Path:
    """Where sessions are kept: COPILOT_HOME, or `.copilot` in the user's home."""
    chosen = environment.get("COPILOT_HOME")
    return Path(chosen).expanduser().absolute() if chosen else Path.home() / ".copilot"


def from_environment(
    environment: Mapping[str, str], *, auth_token_variable: str | None = None, auto_login: bool = True
) -> Settings:
    """The settings that the official clients make by environment and flags."""
    token, kind = None, None
    if auth_token_variable and environment.get(auth_token_variable):
        token, kind = environment[auth_token_variable], "token"
    elif auto_login:
        token = next((environment[name] for name in TOKEN_VARIABLES if environment.get(name)), None)
        kind = "env" if token else None
    return Settings(
        home(environment),
        connection_token=environment.get("COPILOT_CONNECTION_TOKEN") or None,
        github_token=token,
        auth_type=kind,
        api_url=environment.get("COPILOT_API_URL") or None,
        shows_endpoints=environment.get("COPILOT_ALLOW_GET_PROVIDER_ENDPOINT") == "true",
        users_url=environment.get("COPILOT_DEBUG_GITHUB_API_URL")
        or environment.get("COPILOT_API_URL")
        or None,
    )
