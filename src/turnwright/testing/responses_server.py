"""A server of OpenAI's responses for tests."""

from collections.abc import Iterable

from turnwright.protocol.wire import Json
from turnwright.testing.answers import Say, Send, refuse, send_json
from turnwright.testing.model_server import ModelServer, Script, ServedApi, asks, bearer
from turnwright.testing.responses_answers import stream, whole
from turnwright.testing.responses_check import check_responses_request


def render_responses(answer: Say, body: dict[str, Json], number: int) -> Send:
    """Put a proper reply into the form that the request asks for."""
    headers = {"x-request-id": f"req-{number}"}
    if body.get("stream") is not True:
        return send_json(whole(answer, body, number), headers=headers)
    pieces = list(stream(answer, body, number))
    return Send(pieces, headers={"content-type": "text/event-stream", **headers})


_RESPONSES = ServedApi(
    base="/v1",
    is_call=lambda request: asks(request, "POST", "/v1/responses"),
    lists_models=lambda request: asks(request, "GET", "/v1/models"),
    check=lambda body, headers: check_responses_request(body),
    render=render_responses,
    refuse=lambda status, message, code: refuse(status, message, code=code),
    key_of=bearer,
)


class ResponsesServer(ModelServer):
    """A model server that speaks OpenAI's responses; the key is sent as a bearer."""

    def __init__(
        self, script: Script = (), *, api_key: str | None = None, models: Iterable[Json] = ()
    ) -> None:
        super().__init__(_RESPONSES, script, api_key=api_key, models=models)
