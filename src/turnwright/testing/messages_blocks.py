"""What a block of content in Anthropic's messages must look like."""

from turnwright.protocol.wire import Json
from turnwright.providers.loose import a_text, an_array, an_object
from turnwright.testing.shapes import is_filled, is_name, unknown_fields

_KINDS = {
    "system": ("text",),
    "user": ("text", "image", "document", "tool_result"),
    "assistant": ("text", "thinking", "redacted_thinking", "tool_use"),
    "result": ("text", "image"),
}
_FIELDS = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "image": frozenset({"type", "source", "cache_control"}),
    "document": frozenset({"type", "source", "cache_control", "title", "context", "citations"}),
    "tool_use": frozenset({"type", "id", "name", "input", "cache_control"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
    # No cache_control: a mark can't be on the model's reasoning.
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
}
_PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_LARGEST_PICTURE = 5 * 1024 * 1024
_SOURCES = {"base64": "data", "text": "data", "url": "url", "file": "file_id", "content": "content"}
"""Where a document of each type of source has what it holds."""


def block_faults(place: str, role: str, value: Json) -> list[str]:
    """Say all that is wrong with a block in a message of `role`, or in `system` or a `result`."""
    block = an_object(value)
    kind = a_text(block.get("type"))
    if kind not in _KINDS.get(role, ()):
        return [f"{place}.type: {kind!r} is not allowed for {role}"]
    return [*unknown_fields(place, block, _FIELDS[kind]), *_content_faults(place, kind, block)]


def _content_faults(place: str, kind: str, block: dict[str, Json]) -> list[str]:
    wrong: list[str] = []
    match kind:
        case "text" if not a_text(block.get("text")).strip():
            wrong.append(f"{place}.text: must hold more than whitespace")
        case "image" if not _is_picture(an_object(block.get("source"))):
            wrong.append(f"{place}.source: must be a picture in base64, or the URL of one")
        case "document":
            wrong += _document_faults(place, block)
        case "thinking" if not is_filled(block.get("signature")) or not isinstance(
            block.get("thinking"), str
        ):
            wrong.append(f"{place}: must have thinking and its signature")
        case "redacted_thinking" if not is_filled(block.get("data")):
            wrong.append(f"{place}.data: must be a non-empty string")
        case "tool_use":
            wrong += [f"{place}.{f}: must be a name" for f in ("id", "name") if not is_name(block.get(f))]
            if not isinstance(block.get("input"), dict):
                wrong.append(f"{place}.input: must be an object")
        case "tool_result":
            content = block.get("content", "")
            parts = [] if isinstance(content, str) else an_array(content)
            if not isinstance(content, str) and not parts:
                wrong.append(f"{place}.content: must be a string or a non-empty array of blocks")
            for n, part in enumerate(parts):
                wrong += block_faults(f"{place}.content.{n}", "result", part)
        case _:
            pass
    return wrong


def _document_faults(place: str, block: dict[str, Json]) -> list[str]:
    source = an_object(block.get("source"))
    kind = a_text(source.get("type"))
    wrong: list[str] = []
    if not source.get(_SOURCES.get(kind, "")):
        wrong.append(f"{place}.source: must have a documented type and what belongs to it")
    wanted = {"base64": "application/pdf", "text": "text/plain"}.get(kind)
    if wanted and source.get("media_type") != wanted:
        wrong.append(f"{place}.source.media_type: must be {wanted}")
    if "citations" in block and not isinstance(an_object(block["citations"]).get("enabled"), bool):
        wrong.append(f"{place}.citations.enabled: must be a boolean")
    if "title" in block and not is_filled(block["title"]):
        wrong.append(f"{place}.title: must be a non-empty string")
    return wrong


def _is_picture(source: dict[str, Json]) -> bool:
    if source.get("type") == "url":
        return is_filled(source.get("url"))
    return (
        source.get("type") == "base64"
        and source.get("media_type") in _PICTURES
        and is_filled(source.get("data"))
        and len(source["data"]) <= _LARGEST_PICTURE
    )
