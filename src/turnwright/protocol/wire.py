"""The one place that touches msgspec's JSON: encoding and decoding."""

import os
import re
import time
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Raw

from turnwright.errors import InvalidParams
from turnwright.protocol.chance import Chance
from turnwright.protocol.explanation import explain

T = TypeVar("T")

Json = Any
"""A decoded JSON value: None, bool, int, float, str, list or dict with string keys."""

NULL = Raw(b"null")


class Wire(msgspec.Struct, rename="camel", omit_defaults=True):
    """Base of every struct on the wire: camelCase names, fields left at their default are dropped."""


_encoder = msgspec.json.Encoder(enc_hook=str)
_SURROGATES = re.compile("[\ud800-\udfff]")
_HALF = re.compile(rb"\\u[dD][89a-fA-F][\da-fA-F]{2}")
_PAIR_OR_ESCAPE = re.compile(rb"(\\u[dD][89abAB]..\\u[dD][c-fC-F]..)|" + _HALF.pattern + rb"|\\.", re.DOTALL)


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


def whole(data: bytes | bytearray | memoryview | Raw) -> bytes:
    """Return JSON in which each escape of half of a surrogate pair is one of U+FFFD.

    JavaScript and Python write such escapes for text that was cut within an emoji; msgspec refuses them.
    """
    text = bytes(data)
    return _PAIR_OR_ESCAPE.sub(_whole, text) if _HALF.search(text) else text


def _whole(escape: re.Match[bytes]) -> bytes:
    is_half = len(escape[0]) == 6 and escape[1] is None
    return rb"\ufffd" if is_half else escape[0]


def decode(data: bytes | bytearray | memoryview | Raw, kind: type[T]) -> T:
    """Decode JSON into `kind`; raise InvalidParams that names the field when it doesn't fit."""
    decoder = decoder_of(kind)
    try:
        try:
            return decoder.decode(data)
        except msgspec.DecodeError:
            return decoder.decode(whole(data))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InvalidParams(explain(error, kind)) from error
    except RecursionError:
        raise InvalidParams("nested too deeply") from None


def decode_or_none(data: bytes, kind: type[T]) -> T | None:
    """Decode JSON into `kind`; None when it doesn't fit, which costs less than to hear why."""
    try:
        return decoder_of(kind).decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


@cache
def decoder_of(kind: type[T]) -> msgspec.json.Decoder[T]:
    """Return the decoder into `kind`: making one anew would take longer than most decoding."""
    return msgspec.json.Decoder(kind)


def loads(data: bytes | bytearray | memoryview | Raw | str) -> Json:
    """Decode JSON into plain objects; raise InvalidParams when it isn't JSON."""
    try:
        encoded = data.encode() if isinstance(data, str) else data
    except UnicodeEncodeError as error:  # half of a surrogate pair itself, not its escape
        raise InvalidParams(explain(error)) from error
    return decode(encoded, object)


def convert(value: Json, kind: type[T], *, strict: bool = True) -> T:
    """Convert a decoded JSON value into `kind`; raise InvalidParams that names the field.

    Without `strict`, texts are converted too where something else is wanted.
    """
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.MsgspecError as error:
        raise InvalidParams(explain(error, kind)) from error


def builtins(value: object) -> Json:
    """Turn a struct into plain JSON objects, with wire names."""
    return msgspec.to_builtins(value, str_keys=True)


chance = Chance()
"""Where all that is random comes from; a simulation seeds it. A forked child must not repeat its parent's."""
os.register_at_fork(after_in_child=chance.seed)

new_id = chance.new_id
"""A random UUID (version 4) as text. It is unique; it is no secret."""


def now() -> str:
    """Return the time as ISO 8601 in UTC with milliseconds and a Z."""
    return _stamp(time.time_ns() // 1_000_000)


# Events come in bursts: most share their millisecond with the one before, nearly all their second.
@lru_cache(maxsize=1)
def _stamp(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_second(seconds)}.{rest:03}Z"


@lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
