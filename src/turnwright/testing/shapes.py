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


def unknown_fields(place: str, value: dict[str, Json], known: frozenset[str]) -> list[str]:
    """Say which fields of `value` are not `known`."""
    return [f"{place}.{name}: not a field of it" for name in value if name not in known]
