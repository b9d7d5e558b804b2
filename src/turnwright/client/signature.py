"""A function's parameters as JSON Schema, and a call's arguments as the function takes them."""

import inspect
import typing
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from turnwright.client import docstring
from turnwright.client.handlers import Invocation
from turnwright.client.json_schema import Schema, is_model, schema_of, validated
from turnwright.errors import InvalidParams
from turnwright.protocol.explanation import explain

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
        if len(shown) == 1 and is_model(hints.get(shown[0].name)):
            self._whole = shown[0].name
            self._kind = hints[self._whole]
        else:
            self._kind = _arguments(shown, hints)
        self.schema = schema_of(self._kind)
        if self._whole is None:
            _annotate(self.schema.get("properties", {}), shown, described)

    def bind(self, arguments: object, invocation: Invocation) -> dict[str, Any]:
        """The function's keyword arguments. Raises InvalidParams that names the one that is wrong."""
        try:
            found = msgspec.convert(arguments, self._kind, dec_hook=validated)
        except msgspec.ValidationError as error:
            raise InvalidParams(explain(error, self._kind)) from error
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
