"""The schema of a final answer, in what each endpoint takes of JSON Schema.

An endpoint's may be looser than the one that was asked for: the engine checks the answer by the latter.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import cast

from turnwright.protocol.wire import Json

Schema = Mapping[str, Json]

# fmt: off
_STRICT = frozenset({
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref",
    "$defs", "title", "description", "pattern", "format", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
})
_ANTHROPICS = frozenset({
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "allOf",
    "$ref", "$defs", "title", "description", "default",
})
# fmt: on


def openai_format(schema: Schema | None) -> dict[str, Json] | None:
    """The format of OpenAI's two APIs; None for what they refuse: an answer that is no object.

    It is strict, and then the server keeps to it, where every object's properties are known and required.
    """
    if schema is None or schema.get("type") != "object":
        return None
    tight = closed(schema)
    strict = all(_is_strict(part) for part in _parts(tight))
    return {"name": "answer", "schema": tight if strict else dict(schema), "strict": strict}


def anthropic_format(schema: Schema | None) -> dict[str, Json] | None:
    """The format of Anthropic's messages, without the keywords that they refuse.

    None where they refuse the whole: an answer that is no object, names of the model's choice, recursion.
    """
    if schema is None or schema.get("type") != "object" or _is_recursive(schema):
        return None
    tight = _limited(closed(schema))
    if not all(_is_closed(part) for part in _parts(tight) if part.get("type") == "object"):
        return None
    return {"type": "json_schema", "schema": tight}


def closed(schema: Schema) -> dict[str, Json]:
    """The schema with no more properties than it names, wherever it doesn't say whether there may be more."""
    tight = _with_inner(schema, closed)
    if "properties" in tight:
        tight.setdefault("additionalProperties", False)
    return tight


def _limited(schema: Schema) -> dict[str, Json]:
    """The schema in the keywords that Anthropic knows; `oneOf` as the wider `anyOf`."""
    renamed = {"anyOf" if keyword == "oneOf" else keyword: value for keyword, value in schema.items()}
    return _with_inner({k: value for k, value in renamed.items() if k in _ANTHROPICS}, _limited)


def _is_closed(part: Schema) -> bool:
    return part.get("additionalProperties") is False and "properties" in part


def _is_strict(part: Schema) -> bool:
    if part.get("type") == "object" and not (
        _is_closed(part) and set(_mapping(part.get("properties"))) == set(part.get("required", ()))
    ):
        return False
    return part.keys() <= _STRICT


def _with_inner(schema: Schema, change: Callable[[Schema], Json]) -> dict[str, Json]:
    """The schema with each schema right inside of it changed."""

    def changed(part: Json) -> Json:
        return change(cast("Schema", part)) if isinstance(part, dict) else part

    made: dict[str, Json] = {}
    for keyword, value in schema.items():
        match keyword, value:
            case "items" | "additionalProperties", dict():
                made[keyword] = changed(value)
            case "anyOf" | "allOf" | "oneOf", list():
                made[keyword] = [changed(part) for part in cast("list[Json]", value)]
            case "properties" | "$defs" | "definitions", dict():
                made[keyword] = {name: changed(part) for name, part in _mapping(value).items()}
            case _:
                made[keyword] = value
    return made


def _parts(schema: Schema) -> Iterator[Schema]:
    """The schema and all those in it."""
    inner: list[Schema] = []
    _with_inner(schema, inner.append)
    yield schema
    for part in inner:
        yield from _parts(part)


def _is_recursive(schema: Schema) -> bool:
    """Whether a reference leads back to where it is, or to what isn't there."""
    definitions = {**_mapping(schema.get("definitions")), **_mapping(schema.get("$defs"))}

    def leads_back(part: Schema, above: frozenset[str]) -> bool:
        rest = {keyword: value for keyword, value in part.items() if keyword not in ("$defs", "definitions")}
        named = [str(inner["$ref"]).rpartition("/")[2] for inner in _parts(rest) if "$ref" in inner]
        return any(
            name in above or name not in definitions or leads_back(definitions[name], above | {name})
            for name in named
        )

    return leads_back(schema, frozenset())


def _mapping(value: Json) -> Schema:
    return cast("Schema", value) if isinstance(value, dict) else {}
