"""What the format of an answer must look like in a request, as strictly as each interface is documented."""

from collections.abc import Iterator

from turnwright.protocol.wire import Json
from turnwright.providers.loose import an_array, an_object
from turnwright.testing.shapes import is_name

_LISTS = ("anyOf", "allOf", "oneOf")
_TABLES = ("properties", "$defs", "definitions")
# fmt: off
_NOT_ANTHROPICS = frozenset({
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "maxItems", "uniqueItems", "oneOf", "not", "if", "then", "else", "patternProperties", "propertyNames",
})
_NOT_STRICT = frozenset({
    "oneOf", "allOf", "not", "if", "then", "else", "patternProperties", "default", "minLength", "maxLength",
})
# fmt: on


def openai_format_faults(place: str, given: Json) -> list[str]:
    """Say all that is wrong with a format of OpenAI's; with `strict`, each object is closed and complete."""
    described = an_object(given)
    schema = an_object(described.get("schema"))
    wrong = [f"{place}.{f}: not a field" for f in described.keys() - {"type", "name", "schema", "strict"}]
    if not is_name(described.get("name")):
        wrong.append(f"{place}.name: must be a name")
    if not isinstance(described.get("strict"), bool):
        wrong.append(f"{place}.strict: must be a boolean")
    if schema.get("type") != "object":
        wrong.append(f"{place}.schema: must be a JSON Schema of type object")
    if described.get("strict") is True:
        for part in _schemas(schema):
            wrong += _keyword_faults(place, part, _NOT_STRICT)
            if part.get("type") == "object":
                wrong += _closed_faults(place, part)
                if set(an_object(part.get("properties"))) != set(an_array(part.get("required"))):
                    wrong.append(f"{place}.schema: 'required' must include every key in properties")
    return wrong


def anthropic_format_faults(place: str, given: Json) -> list[str]:
    """Say all that is wrong with a format of Anthropic's: each object closed, many keywords unknown."""
    described = an_object(given)
    schema = an_object(described.get("schema"))
    wrong = [f"{place}.{f}: not a field" for f in described.keys() - {"type", "schema"}]
    if described.get("type") != "json_schema":
        wrong.append(f"{place}.type: must be 'json_schema'")
    if schema.get("type") != "object":
        wrong.append(f"{place}.schema: must be a JSON Schema of type object")
    for part in _schemas(schema):
        wrong += _keyword_faults(place, part, _NOT_ANTHROPICS)
        if part.get("type") == "object":
            wrong += _closed_faults(place, part)
    return wrong


def _keyword_faults(place: str, part: dict[str, Json], refused: frozenset[str]) -> list[str]:
    return [f"{place}.schema: {keyword!r} is not permitted" for keyword in sorted(refused & part.keys())]


def _closed_faults(place: str, part: dict[str, Json]) -> list[str]:
    if part.get("additionalProperties") is False:
        return []
    return [f"{place}.schema: 'additionalProperties' is required and must be false"]


def _schemas(schema: dict[str, Json]) -> Iterator[dict[str, Json]]:
    """The schema and all those in it."""
    yield schema
    inner = [schema.get("items"), schema.get("additionalProperties")]
    inner += [part for keyword in _LISTS for part in an_array(schema.get(keyword))]
    inner += [part for keyword in _TABLES for part in an_object(schema.get(keyword)).values()]
    for part in inner:
        if isinstance(part, dict):
            yield from _schemas(an_object(part))
