"""Calls between models, which make up names, ids and arguments, and servers, which check them."""

import re
from collections.abc import Iterable
from hashlib import sha256

from turnwright.errors import InvalidParams
from turnwright.protocol.messages import FinishReason, ToolCall
from turnwright.protocol.wire import Json, encode, loads, new_id
from turnwright.providers.loose import an_object

CUT_SHORT: tuple[FinishReason, ...] = ("length", "content_filter")
"""Finish reasons after which a call may be there by half."""

_LEGAL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")


def legal_name(name: str) -> str:
    """Return a name that servers accept; models make up others, and the history must still be taken."""
    return _ILLEGAL.sub("_", name)[:64] or "unnamed"


def legal_id(call_id: str) -> str:
    """Return the id of a call in a form that every server accepts, another for each id."""
    if _LEGAL_ID.fullmatch(call_id):
        return call_id
    return f"call_{sha256(call_id.encode(errors='replace')).hexdigest()[:24]}"


def legal_arguments(text: str) -> tuple[str, dict[str, Json]]:
    """Return arguments as the text of a JSON object, which servers demand, and that object."""
    if not text.strip():
        return "{}", {}
    try:
        value = loads(text)
    except InvalidParams:
        value = None
    if isinstance(value, dict):
        return text, an_object(value)
    wrapped: dict[str, Json] = {"invalid_arguments": text}
    return encode(wrapped).decode(), wrapped


def is_json(text: str) -> bool:
    """Whether `text` is a whole JSON value."""
    try:
        loads(text)
    except InvalidParams:
        return False
    return True


def with_unique_ids(calls: Iterable[ToolCall], taken: set[str]) -> tuple[ToolCall, ...]:
    """Return the calls; one whose id is missing, or is in `taken` or used twice, gets a new one."""
    used: set[str] = set()
    unique: list[ToolCall] = []
    for call in calls:
        is_free = call.id and call.id not in taken and call.id not in used
        call_id = call.id if is_free else f"call_{new_id().replace('-', '')}"
        used.add(call_id)
        unique.append(ToolCall(call_id, call.name, call.arguments if call.arguments.strip() else "{}"))
    return tuple(unique)
