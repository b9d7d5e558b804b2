"""A server of chat completions in the ways of Azure, for tests."""

import re
from collections.abc import Iterable
from urllib.parse import parse_qs

from turnwright.protocol.wire import Json
from turnwright.testing.chat_answers import refuse
from turnwright.testing.chat_check import check_chat_request
from turnwright.testing.chat_server import render_chat
from turnwright.testing.http_listener import HttpRequest
from turnwright.testing.model_server import ModelServer, Script, ServedApi, bearer

_DEPLOYMENT = re.compile(r"/openai/deployments/[^/]+/chat/completions")


def _is_call(request: HttpRequest) -> bool:
    versioned = "api-version" in parse_qs(request.query)
    if request.path == "/openai/v1/chat/completions":
        return request.method == "POST" and not versioned
    return request.method == "POST" and versioned and _DEPLOYMENT.fullmatch(request.path) is not None


_AZURE = ServedApi(
    base="",
    is_call=_is_call,
    lists_models=lambda request: (request.method, request.path) == ("GET", "/openai/v1/models"),
    check=lambda body, headers: check_chat_request(body),
    render=render_chat,
    refuse=lambda status, message, code: refuse(status, message, code=code),
    key_of=lambda headers: headers.get("api-key") or bearer(headers),
)


class AzureServer(ModelServer):
    """A model server as Azure has them, by deployment or on the v1 route; the key is sent as `api-key`."""

    def __init__(
        self, script: Script = (), *, api_key: str | None = None, models: Iterable[Json] = ()
    ) -> None:
        super().__init__(_AZURE, script, api_key=api_key, models=models)
