"""Answers of a type: what goes out, and what comes back."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import msgspec
import pytest
from pydantic import BaseModel, field_validator

from tests.client.runtimes import in_process
from turnwright import InvalidParams, RequestFailed, SessionFailed
from turnwright.providers.scripted import Scripted, text

pytestmark = pytest.mark.anyio


class AStruct(msgspec.Struct):
    lines: Annotated[int, msgspec.Meta(ge=0)]


@dataclass
class ADataclass:
    lines: int


class ATypedDict(TypedDict):
    lines: int


class AModel(BaseModel):
    lines: int

    @field_validator("lines")
    @classmethod
    def is_even(cls, lines: int) -> int:
        if lines % 2:
            raise ValueError("must be even")
        return lines


SCHEMA = {"type": "object", "properties": {"lines": {"type": "integer"}}, "required": ["lines"]}


async def ask(tmp_path: Path, wanted: Any, *answers: str) -> Any:
    script = Scripted([text(answer) for answer in answers])
    async with in_process(script, tmp_path) as client, await client.create_session() as session:
        return await session.send_and_wait("How many?", response_schema=wanted)


@pytest.mark.parametrize(
    ("wanted", "value"),
    [
        (AStruct, AStruct(42)),
        (ADataclass, ADataclass(42)),
        (ATypedDict, {"lines": 42}),
        (AModel, AModel(lines=42)),
        (SCHEMA, {"lines": 42}),
        (list[int], [42]),
    ],
)
async def test_an_answer_is_a_value_of_the_type(tmp_path: Path, wanted: Any, value: object) -> None:
    answer = "[42]" if isinstance(value, list) else '{"lines": 42}'
    assert await ask(tmp_path, wanted, "Forty-two.", answer) == value


async def test_a_type_checker_knows_the_answers_type(tmp_path: Path) -> None:
    script = Scripted([text('{"lines": 42}'), text("42 lines.")])
    async with in_process(script, tmp_path) as client, await client.create_session() as session:
        counted = await session.send_and_wait("How many?", response_schema=AStruct)
        reply = await session.send_and_wait("In words?")
    assert counted.lines == 42
    assert reply.data.content == "42 lines."


async def test_what_never_fits_fails_with_its_own_type_of_error(tmp_path: Path) -> None:
    with pytest.raises(SessionFailed, match="does not fit the schema, after 2 repairs") as caught:
        await ask(tmp_path, AStruct, '{"lines": -1}', '{"lines": -1}', '{"lines": -1}')
    assert caught.value.error_type == "response_schema"


async def test_what_only_the_types_own_check_refuses_fails_too(tmp_path: Path) -> None:
    with pytest.raises(SessionFailed, match="must be even") as caught:
        await ask(tmp_path, AModel, '{"lines": 1}')
    assert caught.value.error_type == "response_schema"


async def test_a_schema_that_is_none_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises((RequestFailed, InvalidParams), match="responseSchema: is no JSON Schema"):
        await ask(tmp_path, {"type": "nope"})


async def test_a_type_without_a_schema_is_an_error_of_the_app(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="has no JSON Schema"):
        await ask(tmp_path, Path)
