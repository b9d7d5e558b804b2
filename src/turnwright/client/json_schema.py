"""The JSON Schema of an app's types, those of pydantic included, and its models' own checks."""

import dataclasses
import inspect
import typing
from collections.abc import Callable
from typing import Any, cast

import msgspec

from turnwright.protocol import wire

Schema = dict[str, Any]

_REFERENCE = "#/$defs/{name}"


def schema_of(kind: Any) -> Schema:
    """The JSON Schema of a type, its root resolved. Raises TypeError for what has none."""
    inner: dict[str, Schema] = {}

    def of_model(model: Any) -> Schema:
        if not is_pydantic(model):
            raise TypeError(f"{model!r} has no JSON Schema: use a type of msgspec or pydantic")
        # Its parts get its name in front of theirs, so that those of two models never collide.
        schema: Schema = model.model_json_schema(ref_template=f"#/$defs/{model.__name__}.{{model}}")
        for name, part in schema.pop("$defs", {}).items():
            inner[f"{model.__name__}.{name}"] = part
        return schema

    (root,), parts = msgspec.json.schema_components([kind], schema_hook=of_model, ref_template=_REFERENCE)
    if "$ref" in root:
        name = root["$ref"].removeprefix(_REFERENCE.format(name=""))
        root = dict(parts[name])
        if wire.encode([root, *parts.values()]).find(_REFERENCE.format(name=name).encode()) < 0:
            del parts[name]
    root.pop("title", None)
    if parts or inner:
        root["$defs"] = {**parts, **inner}
    return root


def is_pydantic(kind: object) -> bool:
    """Whether it behaves as a model of pydantic, which needn't be installed."""
    return hasattr(kind, "model_json_schema") and hasattr(kind, "model_validate")


def is_model(kind: Any) -> bool:
    """Whether it is a type with named fields: of msgspec or pydantic, a dataclass, a TypedDict."""
    return inspect.isclass(kind) and (
        is_pydantic(kind)
        or issubclass(kind, msgspec.Struct)
        or dataclasses.is_dataclass(kind)
        or typing.is_typeddict(kind)
    )


def validated(kind: Any, value: object) -> object:
    """Let a pydantic model check a value; raise ValueError that says what is wrong in one line."""
    try:
        return kind.model_validate(value)
    except ValueError as error:
        errors = cast("Callable[[], list[Schema]] | None", getattr(error, "errors", None))
        if errors is None:
            raise
        reasons = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in errors()]
        raise ValueError("; ".join(reasons)) from None
