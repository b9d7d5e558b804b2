"""The vendors' own types, to hold our requests and our servers' answers against."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter

from turnwright.protocol.wire import Json, loads
from turnwright.testing.answers import Send


def assert_fits(adapter: TypeAdapter[Any], value: Json) -> None:
    """Check that the vendor's type takes `value`, and knows every field of it."""
    assert plain(adapter.validate_python(value)) == value


def events_of(answer: Send) -> list[Json]:
    """The data of an answer's events."""
    lines = b"".join(answer.pieces).splitlines()
    return [loads(line.removeprefix(b"data: ")) for line in lines if line.startswith(b"data: {")]


def plain(value: object) -> Json:
    """Turn what pydantic gives into JSON; its iterators check their items only as they are read."""
    match value:
        case BaseModel():
            return plain(value.model_dump(exclude_unset=True))
        case Mapping():
            return {key: plain(item) for key, item in cast("Mapping[str, object]", value).items()}
        case list() | tuple() | Iterator():
            return [plain(item) for item in cast("Iterable[object]", value)]
        case _:
            return value
