"""The one place that touches msgspec's JSON: encoding, decoding and clear errors."""

import os
import re
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Raw

from turnwright.errors import InvalidParams

T = TypeVar("T")

Json = Any
"""A decoded JSON value: None, bool, int, float, str, list or dict with string keys."""

NULL = Raw(b"null")


class Wire(msgspec.Struct, rename="camel", omit_defaults=True):
    """Base of every struct on the wire: camelCase names, fields left at their default are dropped."""


_encoder = msgspec.json.Encoder(enc_hook=str)
_SURROGATES = re.compile("[\ud800-\udfff]")


def encode(value: object) -> bytes:
    """Encode as one line of UTF-8 JSON; half of a surrogate pair becomes U+FFFD."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(_without_surrogates(msgspec.to_builtins(value, str_keys=True)))


def clean(text: str) -> str:
    """Return `text` with each lone surrogate, which UTF-8 can't hold, replaced by U+FFFD."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def _without_surrogates(value: Json) -> Json:
    match value:
        case str():
            return clean(value)
        case list():
            return [_without_surrogates(item) for item in cast("list[Json]", value)]
        case dict():
            pairs = cast("dict[str, Json]", value).items()
            return {clean(key): _without_surrogates(item) for key, item in pairs}
        case _:
            return value


def decode(data: bytes | bytearray | memoryview | Raw, kind: type[T]) -> T:
    """Decode JSON into `kind`; raise InvalidParams that names the field when it doesn't fit."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InvalidParams(explain(error)) from error


def loads(data: bytes | bytearray | memoryview | Raw | str) -> Json:
    """Decode JSON into plain objects; raise InvalidParams when it isn't JSON."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeError) as error:  # half of a surrogate pair in a str, or bad UTF-8
        raise InvalidParams(explain(error)) from error


def convert(value: Json, kind: type[T]) -> T:
    """Convert a decoded JSON value into `kind`; raise InvalidParams that names the field."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.MsgspecError as error:
        raise InvalidParams(explain(error)) from error


def builtins(value: object) -> Json:
    """Turn a struct into plain JSON objects, with wire names."""
    return msgspec.to_builtins(value, str_keys=True)


def explain(error: Exception) -> str:
    """Say what is wrong in one sentence, with the path of the field where there is one."""
    text = str(error)
    reason, found, path = text.partition(" - at `$")
    if not found:
        return text
    return f"{path.rstrip('`').lstrip('.') or 'params'}: {reason}"


def new_id() -> str:
    """Return a random UUID (version 4) as text."""
    raw = bytearray(os.urandom(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def now() -> str:
    """Return the time as ISO 8601 in UTC with milliseconds and a Z."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
