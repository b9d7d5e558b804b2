"""Reading JSON from servers that don't all keep to one schema: a wrong type counts as absent."""

from typing import cast

from turnwright.protocol.wire import Json


def an_object(value: Json) -> dict[str, Json]:
    """Return `value` if it is a JSON object, else an empty one."""
    return cast("dict[str, Json]", value) if isinstance(value, dict) else {}


def an_array(value: Json) -> list[Json]:
    """Return `value` if it is a JSON array, else an empty one."""
    return cast("list[Json]", value) if isinstance(value, list) else []


def a_text(value: Json) -> str:
    """Return `value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def a_count(*values: Json) -> int | None:
    """Return the first of `values` that is a number of at least 0, as an integer; None if none is."""
    for value in values:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53:
            return int(value)
    return None
