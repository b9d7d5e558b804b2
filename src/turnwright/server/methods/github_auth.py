"""Whose GitHub token a session uses, and giving it another."""

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from turnwright.errors import TurnwrightError
from turnwright.protocol.identity import HOST, Identity
from turnwright.protocol.wire import Wire
from turnwright.server.methods.auth import told
from turnwright.server.methods.base import Methods, SessionParams

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table


@methods.runtime("session.gitHubAuth.getStatus", SessionParams)
async def status(connection: "Connection", params: SessionParams) -> dict[str, Any]:
    """Who the session's user is; without a token of its own, whether the runtime has one."""
    identity = connection.runtime.find(params.session_id).identity
    if identity is None:
        return told(connection.settings.auth_type)
    found = {"login": identity.login, "copilotPlan": identity.plan}
    known = {name: value for name, value in found.items() if value is not None}
    return {**told(identity.kind, identity.host), **known}


class CopilotUser(Wire, rename=None):
    """What the app knows of a token's owner."""

    login: str | None = None
    copilot_plan: str | None = None


class Credentials(Wire):
    """A user, with a token or, for `user`, without."""

    type: Literal["user", "token", "env", "gh-cli"]
    host: str = HOST
    login: str | None = None
    token: str | None = None
    copilot_user: CopilotUser | None = None


class CredentialsParams(SessionParams):
    """What holds from the next model call on; nothing changes without it."""

    credentials: Credentials | None = None


@methods.runtime("session.gitHubAuth.setCredentials", CredentialsParams)
async def set_credentials(connection: "Connection", params: CredentialsParams) -> dict[str, bool]:
    """Let a session use another token. Who its owner is, is asked for where the app doesn't say."""
    session = connection.runtime.find(params.session_id)
    given = params.credentials
    if given is None:
        return {"success": True}
    user = given.copilot_user
    if given.token:
        session.use_token(given.token)
    login = given.login or (user and user.login)
    identity = Identity(login, user and user.copilot_plan, given.type, given.host)
    resolved = user is not None
    if user is None and given.token:
        try:
            found = await connection.runtime.identify(given.token)
        except TurnwrightError:
            found = None
        if found is not None:
            identity = msgspec.structs.replace(identity, login=login or found.login, plan=found.plan)
            resolved = True
    session.identity = identity
    return {"success": True, "copilotUserResolved": resolved}
