"""A function's parameters as JSON Schema, and a call's arguments as the function takes them."""

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec

from turnwright.client import docstring
from turnwright.client.handlers import Invocation
from turnwright.errors import InvalidParams
from turnwright.protocol import wire

Schema = dict[str, Any]

_REFERENCE = "#/$defs/{name}"
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Signature:
    """What a function takes.

    A parameter of type `Invocation` is filled in and not shown to the model. A function whose only other
    parameter is a model (of pydantic or msgspec, a dataclass, a TypedDict) takes the arguments as a whole.
    Raises TypeError for parameters that can't be given by name or have no JSON Schema.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self.description, described = docstring.read(function)
        hints = typing.get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters.values()
        for parameter in parameters:
            if parameter.kind not in _BY_NAME:
                raise TypeError(f"a tool's parameters are given by name, which {parameter} can't be")
        self._invocation = next((p.name for p in parameters if hints.get(p.name) is Invocation), None)
        shown = [p for p in parameters if p.name != self._invocation]
        self._whole: str | None = None
        if len(shown) == 1 and _is_model(hints.get(shown[0].name)):
            self._whole = shown[0].name
            self._kind = hints[self._whole]
        else:
            self._kind = _arguments(shown, hints)
        self.schema = _schema(self._kind)
        if self._whole is None:
            _annotate(self.schema.get("properties", {}), shown, described)

    def bind(self, arguments: object, invocation: Invocation) -> dict[str, Any]:
        """The function's keyword arguments. Raises InvalidParams that names the one that is wrong."""
        try:
            found = msgspec.convert(arguments, self._kind, dec_hook=_validated)
        except msgspec.ValidationError as error:
            raise InvalidParams(wire.explain(error)) from error
        if self._whole is not None:
            given = {self._whole: found}
        else:
            given = {n: v for n, v in msgspec.structs.asdict(found).items() if v is not msgspec.UNSET}
        if self._invocation is not None:
            given[self._invocation] = invocation
        return given


def _arguments(parameters: Iterable[inspect.Parameter], hints: dict[str, Any]) -> Any:
    """A struct with a field for each parameter; one that is left out keeps the function's own default."""
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for parameter in parameters:
        kind = hints.get(parameter.name, Any)
        if parameter.default is parameter.empty:
            fields.append((parameter.name, kind))
        else:
            fields.append((parameter.name, kind | msgspec.UnsetType, msgspec.UNSET))
    return msgspec.defstruct("Arguments", fields, kw_only=True, forbid_unknown_fields=True)


def _schema(kind: Any) -> Schema:
    inner: dict[str, Schema] = {}

    def of_model(model: Any) -> Schema:
        if not _is_pydantic(model):
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


def _annotate(
    properties: dict[str, Schema], parameters: Iterable[inspect.Parameter], described: dict[str, str]
) -> None:
    """Add what the docstring says and the plain defaults."""
    for parameter in parameters:
        field = properties[parameter.name]
        if parameter.name in described:
            field.setdefault("description", described[parameter.name])
        if isinstance(parameter.default, str | int | float | bool):
            field["default"] = parameter.default


def _is_pydantic(kind: object) -> bool:
    return hasattr(kind, "model_json_schema") and hasattr(kind, "model_validate")


def _is_model(kind: Any) -> bool:
    return inspect.isclass(kind) and (
        _is_pydantic(kind)
        or issubclass(kind, msgspec.Struct)
        or dataclasses.is_dataclass(kind)
        or typing.is_typeddict(kind)
    )


def _validated(kind: Any, value: object) -> object:
    """Let a pydantic model check a value; raise ValueError that says what is wrong in one line."""
    try:
        return kind.model_validate(value)
    except ValueError as error:
        errors = cast("Callable[[], list[Schema]] | None", getattr(error, "errors", None))
        if errors is None:
            raise
        reasons = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in errors()]
        raise ValueError("; ".join(reasons)) from None
