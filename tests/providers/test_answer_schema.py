"""How endpoints are told what an answer must be: each in its own words, and only where they take it."""

from typing import Any

import msgspec
import pytest
from apis import APIS, Spoken
from exchange import Heard, request

from turnwright.client.json_schema import schema_of
from turnwright.providers.answer_schema import anthropic_format, closed, openai_format
from turnwright.providers.openai_chat import OpenAIChat
from turnwright.testing.answers import say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio


class Place(msgspec.Struct):
    path: str
    line: int | None


class Found(msgspec.Struct):
    places: list[Place]
    total: int


class Tree(msgspec.Struct):
    name: str
    below: list["Tree"] = []


class Table(msgspec.Struct):
    counts: dict[str, int]


class Optional(msgspec.Struct):
    name: str
    nickname: str = ""


TYPES = [Found, Place, Tree, Table, Optional]
TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
ONE: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
BOUNDED: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"oneOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]}},
    "required": ["n"],
}


@pytest.mark.parametrize("api", APIS, ids=str)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("answer_only", [False, True])
async def test_every_api_takes_what_it_is_told(api: Spoken, kind: type, answer_only: bool) -> None:
    async with api.serve([say("{}")]) as server:
        provider = api.provider(server)
        await provider.respond(request(answer_schema=schema_of(kind), answer_only=answer_only), Heard())
        await provider.aclose()
    assert server.violations == []


@pytest.mark.parametrize("api", APIS, ids=str)
async def test_each_api_is_told_in_its_own_words(api: Spoken) -> None:
    async with api.serve([say("{}")]) as server:
        provider = api.provider(server)
        await provider.respond(request(answer_schema=ONE, answer_only=True), Heard())
        await provider.aclose()
    named = {"name": "answer", "schema": ONE, "strict": True}
    expected: dict[str, dict[str, Any]] = {
        "chat": {"response_format": {"type": "json_schema", "json_schema": named}, "tool_choice": "none"},
        "azure": {"response_format": {"type": "json_schema", "json_schema": named}, "tool_choice": "none"},
        "responses": {"text": {"format": {"type": "json_schema", **named}}},
        "messages": {"output_config": {"format": {"type": "json_schema", "schema": ONE}}},
    }
    asked = server.requests[0]
    fields = ("response_format", "tool_choice", "text", "output_config")
    assert {name: asked[name] for name in fields if name in asked} == expected[api.name]


async def test_a_server_that_may_hold_all_text_to_the_format_is_told_when_no_call_can_come() -> None:
    async with ChatServer([say("{}"), say("{}")]) as server:
        provider = OpenAIChat(server.base_url)
        for only in (False, True):
            await provider.respond(request(answer_schema=ONE, answer_only=only), Heard())
        await provider.aclose()
    assert ["response_format" in asked for asked in server.requests] == [False, True]


@pytest.mark.parametrize(
    ("kind", "strict"), [(Found, True), (Place, True), (Tree, False), (Table, False), (Optional, False)]
)
def test_openai_is_strict_where_every_property_is_known_and_required(kind: type, strict: bool) -> None:
    made = openai_format(schema_of(kind))
    assert made is not None
    assert made["strict"] is strict
    assert made["schema"] == (closed(schema_of(kind)) if strict else schema_of(kind))


@pytest.mark.parametrize(
    ("kind", "taken"), [(Found, True), (Place, True), (Tree, False), (Table, False), (Optional, True)]
)
def test_anthropic_is_told_where_it_can_be(kind: type, taken: bool) -> None:
    assert (anthropic_format(schema_of(kind)) is not None) is taken


def test_anthropic_is_not_told_what_it_refuses() -> None:
    assert anthropic_format(BOUNDED) == {
        "type": "json_schema",
        "schema": {
            "type": "object",
            "properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
            "required": ["n"],
            "additionalProperties": False,
        },
    }


def test_no_endpoint_is_told_of_an_answer_that_is_no_object() -> None:
    assert (openai_format(TEXTS), anthropic_format(TEXTS)) == (None, None)
