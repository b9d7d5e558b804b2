"""The JSON Schema of the wire, as `turnwright schema` prints it."""

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest

from turnwright.cli.main import main
from turnwright.cli.schema import schema
from turnwright.protocol.events import EVENTS
from turnwright.server.table import METHODS


def references(value: object) -> Iterator[str]:
    """Each `$ref` in a schema."""
    match value:
        case {"$ref": str(target)}:
            yield target
        case dict():
            for inner in cast("dict[str, object]", value).values():
                yield from references(inner)
        case list():
            for inner in cast("list[object]", value):
                yield from references(inner)
        case _:
            pass


def titles(document: dict[str, Any]) -> list[str]:
    return [message["title"] for message in document.get("oneOf", [document])]


def test_every_event_and_every_method_is_there() -> None:
    assert titles(schema()) == [*EVENTS, *METHODS]
    assert titles(schema("events")) == [*EVENTS]
    assert titles(schema("methods")) == [*METHODS]


@pytest.mark.parametrize("wanted", [None, "events", "methods", "session.create", "tool.execution_complete"])
def test_a_schema_holds_what_it_refers_to_and_nothing_else(wanted: str | None) -> None:
    document = schema(wanted)
    assert {f"#/$defs/{name}" for name in document["$defs"]} == set(references(document))


def test_an_event_is_described_with_its_envelope() -> None:
    assert schema("session.task_complete") == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "session.task_complete",
        "type": "object",
        "properties": {
            "type": {"const": "session.task_complete"},
            "data": {"$ref": "#/$defs/TaskComplete"},
            "id": {"type": "string", "format": "uuid"},
            "timestamp": {"type": "string", "format": "date-time"},
            "parentId": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "ephemeral": {"type": "boolean", "default": False},
            "agentId": {"type": "string"},
        },
        "required": ["type", "data", "id", "timestamp", "parentId"],
        "$defs": {
            "TaskComplete": {
                "title": "TaskComplete",
                "description": "The model judged the whole task as done.",
                "type": "object",
                "properties": {
                    "success": {"type": "boolean"},
                    "summary": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
                },
                "required": ["success"],
            }
        },
    }


def test_a_name_that_an_event_shares_with_a_method_gives_both() -> None:
    assert titles(schema("session.shutdown")) == ["session.shutdown", "session.shutdown"]


def test_the_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "session.send"]) == 0
    assert json.loads(capsys.readouterr().out) == schema("session.send")


def test_a_name_that_nobody_knows_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "session.sned"]) == 1
    assert capsys.readouterr() == (
        "",
        "turnwright: there is no event or method 'session.sned': `turnwright schema` prints them all\n",
    )
