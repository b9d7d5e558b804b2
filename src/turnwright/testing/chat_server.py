"""A chat-completions server for tests."""

from collections.abc import Iterable

from turnwright.protocol.wire import Json
from turnwright.providers.loose import an_object
from turnwright.testing.chat_answers import ChatAnswer, Say, Send, refuse, send_json, stream, whole
from turnwright.testing.chat_check import check_chat_request
from turnwright.testing.model_server import ModelServer, Script, ServedApi, asks, bearer

__all__ = ["ChatAnswer", "ChatServer", "Say", "Script", "Send", "render_chat"]


def render_chat(answer: Say, body: dict[str, Json], number: int) -> Send:
    """Put a proper reply into the form that the request asks for."""
    headers = {"x-request-id": f"req-{number}"}
    if body.get("stream") is not True:
        return send_json(whole(answer, body["model"], number), headers=headers)
    usage = an_object(body.get("stream_options")).get("include_usage") is True
    pieces = list(stream(answer, body["model"], number, usage=usage))
    return Send(pieces, headers={"content-type": "text/event-stream", **headers})


_CHAT = ServedApi(
    base="/v1",
    is_call=lambda request: asks(request, "POST", "/v1/chat/completions"),
    lists_models=lambda request: asks(request, "GET", "/v1/models"),
    check=lambda body, headers: check_chat_request(body),
    render=render_chat,
    refuse=lambda status, message, code: refuse(status, message, code=code),
    key_of=bearer,
)


class ChatServer(ModelServer):
    """A model server that speaks chat completions; the key is sent as a bearer."""

    def __init__(
        self, script: Script = (), *, api_key: str | None = None, models: Iterable[Json] = ()
    ) -> None:
        super().__init__(_CHAT, script, api_key=api_key, models=models)
