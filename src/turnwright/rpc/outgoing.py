"""JSON-RPC 2.0 messages as they go out."""

from functools import lru_cache

import msgspec
from msgspec import Raw

from turnwright.errors import InvalidParams, RequestFailed, TurnwrightError
from turnwright.protocol import wire
from turnwright.rpc.messages import INTERNAL_ERROR, INVALID_PARAMS, ErrorBody


class _Outgoing(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    pass


class _Call(_Outgoing):
    id: int
    method: str
    params: Raw


class _Success(_Outgoing):
    id: Raw
    result: Raw


class _Failure(_Outgoing):
    id: Raw
    error: Raw


def call(number: int, method: str, params: object) -> bytes:
    """Encode a request."""
    return wire.encode(_Call(number, method, _embed(params)))


def notification(method: str, params: object) -> bytes:
    """Encode a notification; most messages are, so what is encoded already is just put into its place."""
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (_quoted(method), _embed(params))


def success(id: Raw, result: object) -> bytes:
    """Encode the answer to a request that went well."""
    return wire.encode(_Success(id, _embed(result)))


def failure(id: Raw, error: ErrorBody) -> bytes:
    """Encode the answer to a request that failed."""
    return wire.encode(_Failure(id, _embed(error)))


def describe(method: str, error: TurnwrightError) -> ErrorBody:
    """Put a deliberate error into the wire's form."""
    match error:
        case RequestFailed():
            return ErrorBody(error.code, str(error), error.data)
        case InvalidParams():
            return ErrorBody(INVALID_PARAMS, str(error))
        case _:
            return ErrorBody(INTERNAL_ERROR, f"Request {method} failed with message: {error}")


def internal_error(method: str) -> ErrorBody:
    """What goes out for a fault of ours, whose text stays in the log."""
    return ErrorBody(INTERNAL_ERROR, f"Request {method} failed with message: Internal error")


@lru_cache
def _quoted(method: str) -> bytes:
    return wire.encode(method)


def _embed(value: object) -> Raw:
    # Encoded apart from its envelope, because `wire.encode` can't repair text beside a Raw.
    return value if isinstance(value, Raw) else Raw(wire.encode(value))
