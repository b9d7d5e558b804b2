"""`turnwright schema`: the wire as JSON Schema, from the very tables that the runtime works by."""

import json
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from turnwright.cli.output import show
from turnwright.errors import InvalidParams
from turnwright.protocol.events import EVENTS
from turnwright.server.table import METHODS

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Message(msgspec.Struct, frozen=True):
    """An event or a request, by its wire name; `body` is the type of its data or params."""

    sort: Literal["events", "methods"]
    name: str
    body: type

    def schema(self, body: Schema) -> Schema:
        """The whole message, with `body` as the schema of its data or params."""
        return _event(self.name, body) if self.sort == "events" else _request(self.name, body)


def main(wanted: str | None) -> int:
    """Print the schema that the command line asks for. Raises InvalidParams for a name that isn't known."""
    show(json.dumps(schema(wanted), indent=2, ensure_ascii=False))
    return 0


def schema(wanted: str | None = None) -> Schema:
    """The JSON Schema of all messages, of all `events` or `methods`, or of those with one name.

    Raises InvalidParams when there is no such message.
    """
    found = [message for message in messages() if wanted in (None, message.name, message.sort)]
    if not found:
        raise InvalidParams(f"there is no event or method {wanted!r}: `turnwright schema` prints them all")
    bodies, definitions = components([message.body for message in found])
    whole = [message.schema(body) for message, body in zip(found, bodies, strict=True)]
    shape: Schema = whole[0] if len(whole) == 1 else {"oneOf": whole}
    return {"$schema": DIALECT, **shape, "$defs": definitions}


def messages() -> Iterator[Message]:
    """Every event that the runtime knows, and every request that it answers."""
    for name, data in EVENTS.items():
        yield Message("events", name, data)
    for name, method in METHODS.items():
        yield Message("methods", name, method.params)


def components(types: list[type]) -> tuple[tuple[Schema, ...], Schema]:
    """The schema of each type, and what these refer to by `#/$defs/NAME`."""
    bodies, definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    return bodies, definitions


def _event(name: str, data: Schema) -> Schema:
    text: Schema = {"type": "string"}
    return {
        "title": name,
        "type": "object",
        "properties": {
            "type": {"const": name},
            "data": data,
            "id": {"type": "string", "format": "uuid"},
            "timestamp": {"type": "string", "format": "date-time"},
            "parentId": {"anyOf": [text, {"type": "null"}]},
            "ephemeral": {"type": "boolean", "default": False},
            "agentId": text,
        },
        "required": ["type", "data", "id", "timestamp", "parentId"],
    }


def _request(name: str, params: Schema) -> Schema:
    return {
        "title": name,
        "type": "object",
        "properties": {
            "jsonrpc": {"const": "2.0"},
            "id": {"type": ["string", "integer"]},
            "method": {"const": name},
            "params": params,
        },
        "required": ["jsonrpc", "id", "method", "params"],
    }
