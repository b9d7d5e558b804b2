"""The JSON Schema that holds a small model to one tool call or one answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from turnwright.protocol.messages import ToolDefinition
from turnwright.protocol.wire import Json

OPTIONAL_LIMIT = 3
"""A small model fills optional arguments with inventions, so it is offered the first few only."""

_DEPTH_LIMIT = 5
_COMPACT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_KEPT = ("type", "enum", "const")
_CHOICES = ("anyOf", "oneOf")


def answer_schema(wanted: Mapping[str, Json] | None = None) -> dict[str, Json]:
    """The schema of `{"answer": ...}`, laid out as `json.dumps` does: of a text, or of what is wanted."""
    return {"x-guidance": _COMPACT} | _answer(wanted)


def reply_schema(
    tools: Sequence[ToolDefinition], wanted: Mapping[str, Json] | None = None
) -> dict[str, Json]:
    """The schema of one call, `{"tool": NAME, "arguments": {...}}`, of one of `tools`, or of an answer."""
    calls = [_call_schema(tool) for tool in tools]
    if not calls:
        return answer_schema(wanted)
    return {"x-guidance": _COMPACT, "anyOf": [*calls, _answer(wanted)]}


def argument_names(tool: ToolDefinition) -> tuple[list[str], list[str]]:
    """The arguments that the model is offered: the required ones and the first few optional ones."""
    properties = _mapping(tool.parameters.get("properties"))
    required = _required(tool.parameters, properties)
    optional = [name for name in properties if name not in required]
    return required, optional[:OPTIONAL_LIMIT]


def _answer(wanted: Mapping[str, Json] | None) -> dict[str, Json]:
    if wanted is None:
        return _closed({"answer": {"type": "string"}}, ["answer"])
    return _closed({"answer": _plain(wanted, _definitions(wanted), _DEPTH_LIMIT)}, ["answer"])


def _call_schema(tool: ToolDefinition) -> dict[str, Json]:
    parameters: Mapping[str, Json] = tool.parameters
    definitions = _definitions(parameters)
    properties = _mapping(parameters.get("properties"))
    required, optional = argument_names(tool)
    offered = {
        name: _plain(schema, definitions, _DEPTH_LIMIT)
        for name, schema in properties.items()
        if name in required or name in optional
    }
    return _closed(
        {"tool": {"const": tool.name}, "arguments": _closed(offered, required)}, ["tool", "arguments"]
    )


def _plain(schema: Json, definitions: Mapping[str, Json], depth: int) -> dict[str, Json]:
    """Keep what every grammar builder understands; what is left out, the tool's own check will find."""
    if depth == 0 or not isinstance(schema, Mapping):
        return {}
    source = cast("Mapping[str, Json]", schema)
    reference = source.get("$ref")
    if isinstance(reference, str):
        return _plain(definitions.get(reference.rpartition("/")[2]), definitions, depth - 1)
    choices = next((source[key] for key in _CHOICES if isinstance(source.get(key), list)), None)
    if choices:
        return {"anyOf": [_plain(choice, definitions, depth - 1) for choice in choices]}
    plain: dict[str, Json] = {key: source[key] for key in _KEPT if key in source}
    if "items" in source:
        plain["items"] = _plain(source["items"], definitions, depth - 1)
    properties = _mapping(source.get("properties"))
    if properties:
        kept = {name: _plain(each, definitions, depth - 1) for name, each in properties.items()}
        plain |= _closed(kept, _required(source, properties))
    return plain


def _closed(properties: Mapping[str, Json], required: Sequence[str]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _definitions(schema: Mapping[str, Json]) -> dict[str, Json]:
    return {**_mapping(schema.get("$defs")), **_mapping(schema.get("definitions"))}


def _required(schema: Mapping[str, Json], properties: Mapping[str, Json]) -> list[str]:
    named = schema.get("required")
    names: Iterable[Any] = cast("list[Any]", named) if isinstance(named, list) else ()
    return [name for name in names if name in properties]


def _mapping(value: Json) -> Mapping[str, Json]:
    return cast("Mapping[str, Json]", value) if isinstance(value, Mapping) else {}
