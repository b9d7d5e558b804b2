"""A server of Anthropic's messages for tests."""

from collections.abc import Iterable

from turnwright.protocol.wire import Json
from turnwright.testing.answers import Say, Send, send_json
from turnwright.testing.messages_answers import refuse, stream, whole
from turnwright.testing.messages_check import check_messages_request
from turnwright.testing.model_server import ModelServer, Script, ServedApi, asks, bearer


def render_messages(answer: Say, body: dict[str, Json], number: int) -> Send:
    """Put a proper reply into the form that the request asks for."""
    headers = {"request-id": f"req-{number}"}
    if body.get("stream") is not True:
        return send_json(whole(answer, body["model"], number), headers=headers)
    pieces = list(stream(answer, body["model"], number))
    return Send(pieces, headers={"content-type": "text/event-stream", **headers})


_MESSAGES = ServedApi(
    base="",
    is_call=lambda request: asks(request, "POST", "/v1/messages"),
    lists_models=lambda request: asks(request, "GET", "/v1/models"),
    check=check_messages_request,
    render=render_messages,
    refuse=refuse,
    key_of=lambda headers: headers.get("x-api-key") or bearer(headers),
)


class MessagesServer(ModelServer):
    """A model server that speaks Anthropic's messages; the key is sent as `x-api-key`, or as a bearer."""

    def __init__(
        self, script: Script = (), *, api_key: str | None = None, models: Iterable[Json] = ()
    ) -> None:
        super().__init__(_MESSAGES, script, api_key=api_key, models=models)
