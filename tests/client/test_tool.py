"""Functions as tools: what the model is told, how arguments are checked, what comes back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
import pydantic
import pytest

from turnwright import AppTool, BinaryResult, Invocation, ToolResult, tool
from turnwright.protocol import wire
from turnwright.protocol.options import ToolSpec

pytestmark = pytest.mark.anyio

INVOCATION = Invocation("session", "request", "call", "tool")


async def outcome(called: AppTool[..., Any], **arguments: object) -> Any:
    """The result of a call, as it goes over the wire."""
    return wire.builtins(await called.run(arguments, INVOCATION))


def succeeded(text: str) -> dict[str, str]:
    return {"textResultForLlm": text}


def failed(text: str) -> dict[str, str]:
    return {"textResultForLlm": text, "resultType": "failure", "error": text}


@tool
def search(
    pattern: str,
    limit: Annotated[int, msgspec.Meta(ge=1, description="At most so many.")] = 10,
    *,
    kinds: list[Literal["file", "folder"]] = ["file"],  # noqa: B006
    within: str | None = None,
) -> str:
    """Find files.

    It looks everywhere.

    Args:
        pattern: What their names contain,
            in any case.
        limit (int): Not taken, for the annotation says it.
        within: A folder.

    Returns:
        pattern: their names.
    """
    return f"{pattern} {limit} {kinds} {within}"


def test_name_description_and_parameters_are_those_of_the_function() -> None:
    assert search.spec == ToolSpec(
        "search",
        "Find files.\n\nIt looks everywhere.",
        {
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "What their names contain, in any case."},
                "limit": {"type": "integer", "minimum": 1, "description": "At most so many.", "default": 10},
                "kinds": {"type": "array", "items": {"enum": ["file", "folder"]}},
                "within": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "A folder."},
            },
            "required": ["pattern"],
            "additionalProperties": False,
        },
    )


def test_a_tool_is_still_the_function_that_it_was() -> None:
    assert search("a", 2) == "a 2 ['file'] None"
    assert search.__doc__ is not None
    assert search.__doc__.startswith("Find files.")


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        ({"pattern": "a"}, succeeded("a 10 ['file'] None")),
        ({"pattern": "a", "limit": 1, "within": "b"}, succeeded("a 1 ['file'] b")),
        ({}, failed("The arguments of search are wrong: Object missing required field `pattern`")),
        ({"pattern": 1}, failed("The arguments of search are wrong: pattern: Expected `str`, got `int`")),
        (
            {"pattern": "a", "limit": 0},
            failed("The arguments of search are wrong: limit: Expected `int` >= 1"),
        ),
        (
            {"pattern": "a", "kinds": ["pipe"]},
            failed("The arguments of search are wrong: kinds[0]: must be file or folder, not 'pipe'"),
        ),
        (
            {"pattern": "a", "patern": "b"},
            failed(
                "The arguments of search are wrong: "
                "there is no field `patern`; there are: pattern, limit, kinds, within"
            ),
        ),
    ],
)
async def test_arguments_are_checked_before_the_function_is_called(
    arguments: dict[str, object], result: dict[str, str]
) -> None:
    assert await outcome(search, **arguments) == result


def test_the_decorator_may_say_it_better() -> None:
    @tool(name="find", description="Find.", skip_permission=True, overrides_built_in_tool=True)
    def search() -> None:
        """Not this."""

    empty: dict[str, object] = {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
    assert search.spec == ToolSpec("find", "Find.", empty, True, True)


def test_sphinx_fields_describe_parameters_too() -> None:
    @tool
    def fetch(url: str, tries: int) -> str:
        """Fetch a page.

        :param url: Its address.
        :param int tries: How often
            to try.
        :returns: the text
        """
        return url * tries

    assert fetch.spec.description == "Fetch a page."
    properties = (fetch.spec.parameters or {})["properties"]
    assert {name: field["description"] for name, field in properties.items()} == {
        "url": "Its address.",
        "tries": "How often to try.",
    }


async def test_an_invocation_is_filled_in_and_not_shown() -> None:
    @tool
    def whoami(invocation: Invocation, name: str) -> str:
        return f"{name} in {invocation.tool_call_id}"

    assert list((whoami.spec.parameters or {})["properties"]) == ["name"]
    assert await outcome(whoami, name="x") == succeeded("x in call")


class Place(pydantic.BaseModel):
    """A place."""

    city: str
    country: Literal["DE", "FR"] = "DE"


class Trip(pydantic.BaseModel):
    """A trip."""

    stops: list[Place] = pydantic.Field(description="In order.")
    days: int = pydantic.Field(gt=0)


async def test_a_pydantic_model_as_the_one_parameter_is_the_arguments() -> None:
    @tool
    def plan(trip: Trip) -> int:
        return trip.days * len(trip.stops)

    assert (plan.spec.parameters or {})["required"] == ["stops", "days"]
    assert await outcome(plan, stops=[{"city": "Bonn"}], days=2) == succeeded("2")
    assert await outcome(plan, stops=[{"city": 1}], days=0) == failed(
        "The arguments of plan are wrong: stops.0.city: Input should be a valid string; "
        "days: Input should be greater than 0"
    )


async def test_pydantic_models_among_other_parameters_are_checked_and_keep_their_parts() -> None:
    @tool
    def book(trip: Trip, home: Place) -> Place:
        return home if trip.days > 1 else trip.stops[0]

    schema = book.spec.parameters or {}
    assert schema["properties"]["trip"]["properties"]["stops"]["items"] == {"$ref": "#/$defs/Trip.Place"}
    assert schema["$defs"]["Trip.Place"]["required"] == ["city"]
    trip = {"stops": [{"city": "Bonn"}], "days": 2}
    assert await outcome(book, trip=trip, home={"city": "Metz", "country": "FR"}) == succeeded(
        '{"city":"Metz","country":"FR"}'
    )
    assert await outcome(book, trip=trip, home={"city": "Metz", "country": "UK"}) == failed(
        "The arguments of book are wrong: home: country: Input should be 'DE' or 'FR'"
    )


@dataclass
class Node:
    """A tree."""

    name: str
    children: "list[Node]"


async def test_a_dataclass_as_the_one_parameter_is_the_arguments_even_when_it_holds_itself() -> None:
    @tool
    def count(tree: Node) -> int:
        return 1 + sum(count(child) for child in tree.children)

    schema = count.spec.parameters or {}
    assert schema["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    assert "Node" in schema["$defs"]
    leaf: dict[str, object] = {"name": "leaf", "children": []}
    assert await outcome(count, name="root", children=[leaf, leaf]) == succeeded("3")


async def gives(value: object) -> Any:
    @tool
    async def give() -> object:
        return value

    return await outcome(give)


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (None, succeeded("")),
        ("text", succeeded("text")),
        (3, succeeded("3")),
        ([{"a": None}], succeeded('[{"a":null}]')),
        (Place(city="Bonn"), succeeded('{"city":"Bonn","country":"DE"}')),
        ({"textResultForLlm": "no", "resultType": "rejected"}, None),
        (
            ToolResult("shown", binary_results_for_llm=[BinaryResult("aGk=", "image/png")]),
            {
                "textResultForLlm": "shown",
                "binaryResultsForLlm": [{"data": "aGk=", "mimeType": "image/png"}],
            },
        ),
    ],
)
async def test_what_a_tool_returns_is_its_result(value: object, result: object) -> None:
    assert await gives(value) == (value if result is None else result)


@pytest.mark.parametrize(
    ("error", "message"), [(ValueError("no such city"), "no such city"), (KeyError(), "KeyError")]
)
async def test_the_model_hears_what_a_tool_raised(error: Exception, message: str) -> None:
    @tool
    def breaks() -> None:
        raise error

    assert await outcome(breaks) == failed(message)


def takes_any(*names: str) -> None: ...
def takes_named(**names: str) -> None: ...
def takes_by_place(name: str, /) -> None: ...
def takes_a_stranger(path: object.__class__) -> None: ...


@pytest.mark.parametrize("function", [takes_any, takes_named, takes_by_place, takes_a_stranger])
def test_parameters_that_a_model_cant_give_are_refused_at_once(function: Callable[..., None]) -> None:
    with pytest.raises(TypeError):
        tool(function)
