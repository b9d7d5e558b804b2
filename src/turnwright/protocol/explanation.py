"""What is wrong with a value, in a sentence: which field, and what it may be instead."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from msgspec import inspect

_VALUE = re.compile(r"Invalid (?:enum )?value (.+)", re.DOTALL)
_FIELD = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(?:\.\.\.|\d+)\]")


def explain(error: Exception, kind: Any = None) -> str:
    """Say what is wrong in one sentence, with the path of the field where there is one.

    `error` is msgspec's; with the `kind` into which it didn't fit, the sentence lists the values that are
    allowed, or the fields that there are, the nearest one first.
    """
    reason, found, path = str(error).partition(" - at `$")
    path = path.rstrip("`")
    if kind is not None:
        reason = _with_choices(reason, path, kind)
    return f"{path.lstrip('.') or 'params'}: {reason}" if found else reason


def no_field(name: str, fields: Iterable[str]) -> str:
    """Say that there is no field of that name, and which there are, the nearest ones first."""
    from difflib import get_close_matches

    known = [*dict.fromkeys(fields)]
    nearest_first = dict.fromkeys([*get_close_matches(name, known), *known])
    return f"there is no field `{name}`; there are: {', '.join(nearest_first)}"


def _with_choices(reason: str, path: str, kind: Any) -> str:
    if value := _VALUE.fullmatch(reason):
        if allowed := _values(_at(path, kind)):
            return f"must be {_one_of(allowed)}, not {value[1]}"
    elif field := _FIELD.fullmatch(reason):
        fields = [name for node in _at(path, kind) for name, _ in _fields(node)]
        return no_field(field[1], fields)
    return reason


def _one_of(words: list[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def _values(nodes: "Iterable[inspect.Type]") -> list[str]:
    from msgspec import inspect

    found: dict[str, None] = {}
    for node in nodes:
        match node:
            case inspect.LiteralType(values=values):
                found.update(dict.fromkeys(map(str, values)))
            case inspect.EnumType(cls=cls):
                found.update(dict.fromkeys(str(member.value) for member in cls))
            case _:
                pass
    return [*found]


def _at(path: str, kind: Any) -> "list[inspect.Type]":
    """The types that may stand at a path as msgspec writes it: `.providers[0].type`."""
    nodes = [*_alternatives(_tree(kind))]
    for step in _STEP.finditer(path):
        nodes = [each for node in nodes for child in _inside(node, step[1]) for each in _alternatives(child)]
    return nodes


@cache
def _tree(kind: Any) -> "inspect.Type":
    from msgspec import inspect

    return inspect.type_info(kind)


def _alternatives(node: "inspect.Type") -> "Iterator[inspect.Type]":
    from msgspec import inspect

    match node:
        case inspect.UnionType(types=types):
            for each in types:
                yield from _alternatives(each)
        case inspect.Metadata(type=inner):
            yield from _alternatives(inner)
        case _:
            yield node


def _inside(node: "inspect.Type", field: str | None) -> "Iterator[inspect.Type]":
    """The types of a field, or of the items where no field is named."""
    from msgspec import inspect

    if field is not None:
        yield from (kind for name, kind in _fields(node) if name == field)
        return
    match node:
        case inspect.DictType(value_type=inner):
            yield inner
        case inspect.ListType(item_type=inner) | inspect.VarTupleType(item_type=inner):
            yield inner
        case inspect.TupleType(item_types=inner):
            yield from inner
        case _:
            pass


def _fields(node: "inspect.Type") -> "Iterator[tuple[str, inspect.Type]]":
    from msgspec import inspect

    match node:
        case inspect.StructType() | inspect.TypedDictType() | inspect.DataclassType():
            if isinstance(node, inspect.StructType) and node.tag_field is not None:
                yield node.tag_field, inspect.LiteralType((node.tag,))
            for field in node.fields:
                yield field.encode_name, field.type
        case _:
            pass
