"""How a session's requests travel: who carries them, with which token, and what they say of themselves."""

from typing import TYPE_CHECKING

from turnwright.engine.clients import Client
from turnwright.engine.models import github
from turnwright.engine.models.inference import Origin
from turnwright.errors import InvalidParams, ProviderError, TurnwrightError
from turnwright.protocol import wire
from turnwright.protocol.options import ProviderOptions, SessionOptions
from turnwright.protocol.wire import Wire
from turnwright.providers.transport import Route

if TYPE_CHECKING:
    from turnwright.engine.session import Session

UNNAMED = "default"
"""The name under which a client is asked for the token of a provider that has none."""

TOKEN_PATIENCE = 60.0
"""Seconds that a client has to give a token."""

CONVERSATION = "conversation-agent"
COMPACTION = "conversation-compaction"
BACKGROUND = "conversation-background"


async def route(
    s: "Session",
    options: ProviderOptions | None,
    *,
    agent: str | None = None,
    interaction: str = CONVERSATION,
) -> Route:
    """The way of the session's next request to a provider. Raises ProviderError; nothing was sent then."""
    inference = s.clients.carrier()
    headers = s.request_headers
    if github.is_github(options):
        headers = {**github.headers(s.run.interaction_id, s.options.client_name), **headers}
    if options is not None and options.has_bearer_token_provider:
        headers = {**headers, "Authorization": f"Bearer {await _token(s, options.name or UNNAMED)}"}
    if inference is None:
        return Route(headers)
    origin = Origin(s.id, agent or s.id, s.id if agent else None, interaction)
    return Route(headers, inference.carrier(origin))


def transport(route: Route, options: ProviderOptions | None) -> str:
    """By what a request travels there, as events name it."""
    over_socket = route.carrier and options and options.transport == "websockets"
    return "websocket" if over_socket else "http"


class _Token(Wire):
    token: str


async def _token(s: "Session", provider: str) -> str:
    """A token of the client that said it gives some: asked for anew each time, the client keeps them."""
    client = _giver(s, provider)
    if client is None:
        raise _no_token(provider, "no client is attached")
    params = {"sessionId": s.id, "providerName": provider}
    try:
        answer = await client.call("providerToken.getToken", params, timeout=TOKEN_PATIENCE)
        token = wire.decode(answer, _Token).token.strip()
    except (TurnwrightError, TimeoutError, InvalidParams) as error:
        raise _no_token(provider, "the client's callback failed") from error
    if not token:
        raise _no_token(provider, "the client's callback gave none")
    return token


def _giver(s: "Session", provider: str) -> Client | None:
    def gives(options: SessionOptions) -> bool:
        named = (*(options.providers or ()), *((options.provider,) if options.provider else ()))
        return any(p.has_bearer_token_provider and (p.name or UNNAMED) == provider for p in named)

    return s.clients.find(gives) or s.clients.find()


def _no_token(provider: str, reason: str) -> ProviderError:
    text = f"there is no bearer token for provider {provider}: {reason}"
    return ProviderError(text, kind="authentication", sent=False)
