"""Shapes that every API demands of the values in a request."""

import re
from typing import TypeGuard

from turnwright.errors import InvalidParams
from turnwright.protocol.wire import Json, loads

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What a tool may be called, and a call's id be."""


def is_filled(value: Json) -> TypeGuard[str]:
    """Whether it is a string with something in it."""
    return isinstance(value, str) and value != ""


def is_name(value: Json) -> TypeGuard[str]:
    """Whether it is a string that a tool may be called."""
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def is_object_text(value: Json) -> bool:
    """Whether it is a string that holds a JSON object."""
    if not isinstance(value, str):
        return False
    try:
        return isinstance(loads(value), dict)
    except InvalidParams:
        return False


def is_file(value: dict[str, Json]) -> bool:
    """Whether it names a file that OpenAI keeps, or brings one whole."""
    data = value.get("file_data")
    whole = isinstance(data, str) and re.match(r"data:[\w.+-]+/[\w.+-]+;base64,", data) is not None
    return is_filled(value.get("file_id")) or (whole and is_filled(value.get("filename")))


def unknown_fields(place: str, value: dict[str, Json], known: frozenset[str]) -> list[str]:
    """Say which fields of `value` are not `known`."""
    return [f"{place}.{name}: not a field of it" for name in value if name not in known]
