"""JSON-RPC 2.0 messages as they come in, sorted by kind."""

from typing import Any

import msgspec
from msgspec import Raw

from turnwright.errors import InvalidParams, RequestFailed
from turnwright.protocol import wire

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

_ABSENT = Raw(b"")
_EMPTY_OBJECT = Raw(b"{}")


class Request(msgspec.Struct, frozen=True):
    """A request, or a notification when `id` is None; an id of null is `Raw(b"null")`."""

    method: str
    params: Raw = _EMPTY_OBJECT
    id: Raw | None = None


class Response(msgspec.Struct, frozen=True):
    """The answer to a call, as it came; `result_of` makes sense of it."""

    id: Raw
    result: Raw = _ABSENT
    error: Raw = _ABSENT

    @property
    def empty(self) -> bool:
        """Tell whether it has neither a result nor an error, and so may be no response at all."""
        return self.result is _ABSENT and self.error is _ABSENT


class ErrorBody(msgspec.Struct, omit_defaults=True):
    """The error of an answer."""

    code: int
    message: str
    data: Any = None


class Refusal(msgspec.Struct, frozen=True):
    """What to answer to a message that is no request and no response."""

    id: Raw
    error: ErrorBody


class _Incoming(msgspec.Struct):
    id: Raw = _ABSENT
    method: str | None = None
    params: Raw = _ABSENT
    result: Raw = _ABSENT
    error: Raw = _ABSENT


class _Identified(msgspec.Struct):
    id: Raw = _ABSENT


def parse(data: bytes) -> Request | Response | Refusal:
    """Sort a message by its kind; what is none of them becomes the refusal to send back."""
    try:
        # msgspec passes over a field that it keeps raw without looking at its encoding.
        if not data.isascii():
            data.decode()
        incoming = wire.decode(data, _Incoming)
    except UnicodeDecodeError as error:
        return _no_json(f"invalid UTF-8 at byte {error.start}")
    except InvalidParams as error:
        return _refuse(data, str(error))
    return _sort(incoming)


def _sort(incoming: _Incoming) -> Request | Response | Refusal:
    identified = incoming.id is not _ABSENT
    if identified and not _is_id(incoming.id):
        return _no_request("id must be a string, a number or null")
    if incoming.method is not None:
        params = _EMPTY_OBJECT if _is_null(incoming.params) else incoming.params
        return Request(incoming.method, params, incoming.id if identified else None)
    if identified:
        error = _ABSENT if _is_null(incoming.error) else incoming.error
        return Response(incoming.id, incoming.result, error)
    return _no_request("neither method nor id")


def _refuse(data: bytes, reason: str) -> Refusal:
    """The refusal of what isn't JSON, or is JSON of the wrong shape."""
    try:
        wire.decode(data, Raw)
    except InvalidParams as error:
        return _no_json(str(error))
    try:
        found = wire.decode(data, _Identified).id
    except InvalidParams:  # a batch or a bare value
        found = wire.NULL
    return _no_request(reason, found if found is not _ABSENT and _is_id(found) else wire.NULL)


def _no_json(reason: str) -> Refusal:
    return Refusal(wire.NULL, ErrorBody(PARSE_ERROR, f"Parse error: {reason}"))


def _no_request(reason: str, id: Raw = wire.NULL) -> Refusal:
    return Refusal(id, ErrorBody(INVALID_REQUEST, f"Invalid Request: {reason}"))


def result_of(method: str, response: Response) -> Raw:
    """Return a response's result; raise RequestFailed when it is an error or malformed."""
    if response.error is not _ABSENT:
        try:
            error = wire.decode(response.error, ErrorBody)
        except InvalidParams as fault:
            raise RequestFailed(INTERNAL_ERROR, f"Malformed error in answer to {method}: {fault}") from None
        raise RequestFailed(error.code, error.message, error.data)
    if response.result is _ABSENT:
        raise RequestFailed(INTERNAL_ERROR, f"Malformed answer to {method}: neither result nor error")
    return response.result


def _is_null(raw: Raw) -> bool:
    return raw is _ABSENT or memoryview(raw)[0] == ord("n")


def _is_id(raw: Raw) -> bool:
    return memoryview(raw)[0] in b'"-0123456789n'
