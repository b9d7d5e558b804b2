"""Writes the pages beside this file from the tables that the runtime works by; `--check` compares them."""

import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from turnwright.cli.schema import Schema, components
from turnwright.client.requests import METHODS as CLIENT_METHODS
from turnwright.protocol.events import EVENTS
from turnwright.rpc.router import Method
from turnwright.server.table import METHODS

HERE = Path(__file__).parent

NOTICE = "<!-- Written by scripts/docs; edit the docstrings in the source instead. -->"

EVENTS_PAGE = """\
# Events

Every event is a JSON object with `type`, `data`, `id` (a UUID), `timestamp` (ISO 8601, UTC), `parentId` (the
id of the persisted event before it; null for the first), `ephemeral: true` where it is not logged, and
`agentId` where a sub-agent caused it. What follows is `data`, type by type. A field that isn't required is
left out when it has nothing to say. [The log](../log.md) tells where events are kept and how to read them."""

METHODS_PAGE = """\
# Methods

Requests of a client, by name, with their params. `params` is always an object; a field that isn't required
may be left out, and one that isn't listed is passed over. Errors: -32601 for a method that isn't here, -32602
for params of the wrong shape (the message names the field), -32603 with a message that says what is wrong for
the rest, -32002 for a missing or wrong connection token, -32000 once the runtime shuts down."""

CLIENT_PART = """\
## What the runtime sends to a client

Notifications (`session.event`, `session.lifecycle`) and calls that a client answers, told as the SDK of this
package sees them. A call is made only to a client that asked for it when it created or resumed the session,
by `hooks`, `requestUserInput` or `requestExitPlanMode`; and `systemMessage.transform`, which
[the system prompt](../system-prompt.md) describes."""


def main(argv: list[str]) -> int:
    """Write the pages, or with `--check` say which of them are not as they would be written."""
    stale: list[Path] = []
    for name, lines in (("events.md", events_page()), ("methods.md", methods_page())):
        file, text = HERE / name, "\n".join(lines) + "\n"
        if file.exists() and file.read_text("utf-8") == text:
            continue
        stale.append(file)
        if "--check" not in argv:
            file.write_text(text, "utf-8")
    for file in stale:
        done = "is stale: run scripts/docs" if "--check" in argv else "written"
        sys.stderr.write(f"docs: {file.relative_to(HERE.parents[1])} {done}\n")
    return 1 if stale and "--check" in argv else 0


def events_page() -> Iterator[str]:
    """The lines of the page of events, one section for each module that defines some."""
    yield from (NOTICE, "", EVENTS_PAGE)
    bodies, definitions = components(list(EVENTS.values()))
    module = ""
    for (name, data), body in zip(EVENTS.items(), bodies, strict=True):
        if data.__module__ != module:
            module = data.__module__
            yield from ("", f"## {_title(module)}")
        kept = "Ephemeral" if data.ephemeral else "Persisted"
        yield from _entry(f"`{name}`", f"{kept}. {inspect.getdoc(data)}", definitions[_target(body)])
    yield from _shared(definitions, bodies)


def methods_page() -> Iterator[str]:
    """The lines of the page of methods: those of the runtime by module, then those of a client."""
    yield from (NOTICE, "", METHODS_PAGE)
    bodies, definitions = components([m.params for m in (*METHODS.values(), *CLIENT_METHODS.values())])
    module = ""
    for (name, method), body in zip(METHODS.items(), bodies, strict=False):
        handler = _handler(method)
        if handler.__module__ != module:
            module = handler.__module__
            yield from ("", f"## {_title(module)}")
        yield from _method(name, handler, body, definitions)
    yield from ("", CLIENT_PART)
    for (name, method), body in zip(CLIENT_METHODS.items(), bodies[len(METHODS) :], strict=True):
        yield from _method(name, method.call, body, definitions)
    yield from _shared(definitions, bodies)


def _method(name: str, handler: Any, body: Schema, definitions: Schema) -> Iterator[str]:
    params: Schema = definitions[_target(body)] if "$ref" in body else {}
    yield from _entry(f"`{name}`", inspect.getdoc(handler) or "", params)


def _entry(title: str, text: str, body: Schema) -> Iterator[str]:
    """One message or type: its name, what it is for, and its fields."""
    fields: dict[str, Schema] = body.get("properties", {})
    yield from ("", f"### {title}", "", _with_wire_names(text, fields), "")
    if not fields:
        yield "No fields."
        return
    required = body.get("required", [])
    yield from ("| field | type | default |", "| --- | --- | --- |")
    for name, schema in fields.items():
        default = "required" if name in required else _default(schema)
        yield f"| `{name}` | {_type(schema, name in required)} | {default} |"


def _with_wire_names(text: str, fields: Iterable[str]) -> str:
    """A docstring in which fields are named as they are on the wire."""
    for name in fields:
        in_source = re.sub("([A-Z])", r"_\1", name).lower()
        text = text.replace(f"`{in_source}`", f"`{name}`")
    return text


def _default(schema: Schema) -> str:
    value = schema.get("default")
    return "" if value is None or value is False or value == [] else f"`{json.dumps(value)}`"


def _handler(method: Method[Any, Any]) -> Any:
    """The function that serves a method, inside of what checks the client before it."""
    return inspect.getclosurevars(method.call).nonlocals["handler"]


def _title(module: str) -> str:
    """The first line of a module's docstring, as a heading."""
    return (inspect.getdoc(sys.modules[module]) or "").partition("\n")[0].rstrip(".")


def _shared(definitions: Schema, bodies: Iterable[Schema]) -> Iterator[str]:
    """What several messages refer to, or one of them deep inside."""
    tops = {_target(body) for body in bodies if "$ref" in body}
    rest = {name: body for name, body in definitions.items() if name not in tops}
    if rest:
        yield from ("", "## Types")
    for name, body in sorted(rest.items()):
        yield from _entry(name, str(body.get("description", "")), body)


def _type(schema: Schema, required: bool = True) -> str:
    match schema:
        case {"$ref": str()}:
            name = _target(schema)
            return f"[{name}](#{name.lower().replace('.', '')})"
        case {"anyOf": [*parts]}:
            words = [_type(part) for part in parts if required or part != {"type": "null"}]
            return " or ".join(words)
        case {"enum": [*values]}:
            return " or ".join(f'`"{value}"`' for value in values)
        case {"const": value}:
            return f'`"{value}"`'
        case {"type": "array", "items": {} as items} if items:
            return f"array of {_type(items)}"
        case {"type": "object", "additionalProperties": {} as values} if values:
            return f"object of {_type(values)}"
        case {"type": str(name)}:
            return name
        case _:
            return "any"


def _target(schema: Schema) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
