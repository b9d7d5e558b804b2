"""The grammar that holds the local model to one call or one answer."""

from turnwright.protocol.messages import ToolDefinition
from turnwright.protocol.wire import Json
from turnwright.providers.embedded_schema import answer_schema, argument_names, reply_schema

LAYOUT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
ANSWER = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


def tool(properties: Json, required: Json = (), **more: Json) -> ToolDefinition:
    return ToolDefinition(
        "t", "A tool.", {"type": "object", "properties": properties, "required": required, **more}
    )


def arguments_schema(definition: ToolDefinition) -> Json:
    return reply_schema([definition])["anyOf"][0]["properties"]["arguments"]


def test_a_reply_is_a_call_of_one_of_the_tools_or_an_answer() -> None:
    view = ToolDefinition(
        "view",
        "Show a file.",
        {"type": "object", "properties": {"path": {"type": "string", "minLength": 1}}, "required": ["path"]},
    )
    assert reply_schema([view]) == {
        "x-guidance": LAYOUT,
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "tool": {"const": "view"},
                    "arguments": {
                        "type": "object",
                        "properties": {"path": {"type": "string"}},
                        "required": ["path"],
                        "additionalProperties": False,
                    },
                },
                "required": ["tool", "arguments"],
                "additionalProperties": False,
            },
            ANSWER,
        ],
    }


def test_without_tools_only_an_answer_fits() -> None:
    assert reply_schema([]) == answer_schema() == {"x-guidance": LAYOUT, **ANSWER}


def test_optional_arguments_beyond_the_first_three_are_not_offered() -> None:
    definition = tool({name: {"type": "string"} for name in "abcdef"}, ["e", "b"])
    assert argument_names(definition) == (["e", "b"], ["a", "c", "d"])
    assert list(arguments_schema(definition)["properties"]) == ["a", "b", "c", "d", "e"]


def test_references_choices_lists_and_nested_objects_are_kept_in_plain_form() -> None:
    definition = tool(
        {
            "place": {"$ref": "#/$defs/Place"},
            "mode": {"enum": ["fast", "safe"], "description": "How."},
            "limit": {"oneOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]},
        },
        ["place"],
        **{
            "$defs": {
                "Place": {
                    "type": "object",
                    "properties": {"names": {"type": "array", "items": {"type": "string", "pattern": "^a"}}},
                    "required": ["names"],
                }
            }
        },
    )
    assert arguments_schema(definition)["properties"] == {
        "place": {
            "type": "object",
            "properties": {"names": {"type": "array", "items": {"type": "string"}}},
            "required": ["names"],
            "additionalProperties": False,
        },
        "mode": {"enum": ["fast", "safe"]},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    }


def test_a_schema_that_refers_to_itself_ends() -> None:
    node: Json = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    schema = arguments_schema(tool({"list": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": node}}))
    depth = 0
    while schema.get("properties"):
        (schema,) = schema["properties"].values()
        depth += 1
    assert (schema, depth <= 5) == ({}, True)


def test_a_schema_of_the_wrong_shape_offers_no_arguments() -> None:
    definition = ToolDefinition("t", "A tool.", {"properties": ["path"], "required": "path"})
    assert arguments_schema(definition) == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
