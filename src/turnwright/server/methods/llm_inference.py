"""Model calls that a client carries out itself: it says so once, then answers what it is given."""

import base64
from typing import TYPE_CHECKING

import msgspec

from turnwright.engine.models.inference import Inference
from turnwright.errors import InvalidParams
from turnwright.protocol.wire import Wire
from turnwright.server.methods.base import Empty, Methods

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table


@methods.runtime("llmInference.setProvider", Empty, inline=True)
async def set_provider(connection: "Connection", params: Empty) -> dict[str, bool]:
    """Send the requests of this client's sessions to the client, which carries them out, from now on."""
    connection.inference = connection.inference or Inference(connection)
    return {"success": True}


class ResponseStart(Wire):
    """The head of an answer; each header may have several values."""

    request_id: str
    status: int
    headers: dict[str, list[str]] = msgspec.field(default_factory=dict[str, list[str]])


@methods.runtime("llmInference.httpResponseStart", ResponseStart, inline=True)
async def response_start(connection: "Connection", params: ResponseStart) -> dict[str, bool]:
    """Take the head of an answer; not accepted when nobody waits for it."""
    inference = connection.inference
    accepted = inference is not None and inference.start(params.request_id, params.status, params.headers)
    return {"accepted": accepted}


class ChunkError(Wire):
    """Why there will be no more of an answer."""

    message: str
    code: str | None = None


class ResponseChunk(Wire):
    """A piece of an answer's body: text, or base64 if `binary`. `end` or an error makes it the last."""

    request_id: str
    data: str = ""
    binary: bool = False
    end: bool = False
    error: ChunkError | None = None


@methods.runtime("llmInference.httpResponseChunk", ResponseChunk, inline=True)
async def response_chunk(connection: "Connection", params: ResponseChunk) -> dict[str, bool]:
    """Take a piece of an answer; not accepted when nobody waits for it."""
    inference, error = connection.inference, params.error
    accepted = inference is not None and inference.feed(
        params.request_id, _bytes(params), end=params.end, error=error.message if error else None
    )
    return {"accepted": accepted}


def _bytes(params: ResponseChunk) -> bytes:
    if not params.binary:
        return params.data.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(params.data, validate=True)
    except ValueError as error:
        raise InvalidParams("data: must be base64, as `binary` is set") from error
