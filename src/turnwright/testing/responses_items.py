"""What an item in the input of OpenAI's responses must look like."""

import re

from turnwright.protocol.wire import Json
from turnwright.providers.loose import a_text, an_array, an_object
from turnwright.testing.shapes import is_file, is_filled, is_name, is_object_text, unknown_fields

_FIELDS = {
    "message": frozenset({"type", "role", "content", "id", "status", "phase"}),
    "function_call": frozenset({"type", "id", "call_id", "name", "arguments", "status"}),
    "function_call_output": frozenset({"type", "id", "call_id", "output", "status"}),
    "reasoning": frozenset({"type", "id", "summary", "content", "encrypted_content"}),
}
_GIVEN = ("input_text", "input_image", "input_file")
_PARTS = {
    "user": _GIVEN,
    "system": ("input_text",),
    "developer": ("input_text",),
    "assistant": ("output_text", "refusal"),
    "output": _GIVEN,
}
_PICTURE = re.compile(r"https?://|data:image/[\w.+-]+;base64,")


def item_faults(place: str, kind: str, item: dict[str, Json], *, stored: bool) -> list[str]:
    """Say all that is wrong with an item; `stored` tells whether the server keeps what it answered."""
    if kind not in _FIELDS:
        return [f"{place}.type: {kind!r} is not a type of an item"]
    wrong = unknown_fields(place, item, _FIELDS[kind])
    match kind:
        case "message":
            role = a_text(item.get("role"))
            if role not in ("user", "system", "developer", "assistant"):
                return [*wrong, f"{place}.role: {role!r} is not a role"]
            return wrong + _content_faults(f"{place}.content", role, item.get("content"))
        case "function_call":
            wrong += [f"{place}.{f}: must be a name" for f in ("call_id", "name") if not is_name(item.get(f))]
            if not is_object_text(item.get("arguments")):
                wrong.append(f"{place}.arguments: must be the text of a JSON object")
        case "function_call_output":
            return wrong + _content_faults(f"{place}.output", "output", item.get("output"))
        case _:
            if not is_filled(item.get("id")) or not isinstance(item.get("summary"), list):
                wrong.append(f"{place}: reasoning must have its id and its summary")
            if not stored and not is_filled(item.get("encrypted_content")):
                wrong.append(f"{place}.encrypted_content: must be there where nothing is stored")
    return wrong


def _content_faults(place: str, role: str, content: Json) -> list[str]:
    if isinstance(content, str):
        return []
    parts = an_array(content)
    if not parts:
        return [f"{place}: must be a string or a non-empty array of parts"]
    wrong: list[str] = []
    for where, part in ((f"{place}[{n}]", an_object(part)) for n, part in enumerate(parts)):
        kind = a_text(part.get("type"))
        if kind not in _PARTS[role]:
            wrong.append(f"{where}.type: {kind!r} is not allowed for {role}")
        elif kind in ("input_text", "output_text") and not isinstance(part.get("text"), str):
            wrong.append(f"{where}.text: must be a string")
        elif kind == "input_image" and not _PICTURE.match(a_text(part.get("image_url"))):
            wrong.append(f"{where}.image_url: must be a URL or a data URL in base64")
        elif kind == "input_file" and not (is_file(part) or is_filled(part.get("file_url"))):
            wrong.append(
                f"{where}: must have a file_id, a file_url, or a filename and a data URL as file_data"
            )
    return wrong
