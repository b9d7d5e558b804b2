"""What is said of a value that doesn't fit: which field, and what it may be."""

from enum import Enum
from typing import Any, Literal

import msgspec
import pytest

from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.explanation import explain


class Colour(Enum):
    RED = "red"
    GREEN = "green"


class Bed(msgspec.Struct, tag="bed", forbid_unknown_fields=True):
    plants: tuple[Literal["rose", "tulip", "leek"], ...] = ()
    colour: Colour | None = None


class Path(msgspec.Struct, tag="path", forbid_unknown_fields=True):
    width: Literal[1, 2] | None = None
    gate: Literal["open"] = "open"


class Garden(msgspec.Struct, forbid_unknown_fields=True):
    parts: list[Bed | Path] = []
    beds_by_name: dict[str, Bed] = {}
    size: int = 0


WRONG: list[tuple[Any, str]] = [
    (
        {"parts": [{"type": "bed", "plants": ["oak"]}]},
        "parts[0].plants[0]: must be leek, rose or tulip, not 'oak'",
    ),
    (
        {"beds_by_name": {"a": {"type": "bed", "colour": "blue"}}},
        "beds_by_name[...].colour: must be red or green, not 'blue'",
    ),
    ({"parts": [{"type": "path", "width": 3}]}, "parts[0].width: must be 1 or 2, not 3"),
    ({"parts": [{"type": "path", "gate": "shut"}]}, "parts[0].gate: must be open, not 'shut'"),
    ({"parts": [{"type": "pond"}]}, "parts[0].type: must be bed or path, not 'pond'"),
    ({"bed_by_name": {}}, "there is no field `bed_by_name`; there are: beds_by_name, parts, size"),
    (
        {"beds_by_name": {"a": {"type": "bed", "x": 1}}},
        "beds_by_name[...]: there is no field `x`; there are: type, plants, colour",
    ),
    ({"size": "large"}, "size: Expected `int`, got `str`"),
    ([], "Expected `object`, got `array`"),
]


@pytest.mark.parametrize(("value", "told"), WRONG)
def test_what_does_not_fit_is_named_with_what_there_is_to_choose_from(value: Any, told: str) -> None:
    with pytest.raises(InvalidParams) as converted:
        wire.convert(value, Garden)
    with pytest.raises(InvalidParams) as decoded:
        wire.decode(msgspec.json.encode(value), Garden)
    assert (str(converted.value), str(decoded.value)) == (told, told)


def test_without_the_type_the_reason_stands_as_it_is() -> None:
    error = msgspec.ValidationError("Invalid enum value 'oak' - at `$.plants[0]`")
    assert explain(error) == "plants[0]: Invalid enum value 'oak'"
