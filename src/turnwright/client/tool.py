"""`@tool`: a typed function of the app becomes a tool that the model may call."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, Generic, Literal, ParamSpec, Protocol, TypeVar, overload, runtime_checkable

from turnwright.client import app_code
from turnwright.client.handlers import Invocation
from turnwright.client.signature import Signature
from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.options import ToolSpec
from turnwright.protocol.wire import Wire

P = ParamSpec("P")
R = TypeVar("R")


class BinaryResult(Wire):
    """A picture or another resource in a tool's result; `data` is base64."""

    data: str
    mime_type: str
    type: Literal["image", "resource"] = "image"
    description: str | None = None


class ToolResult(Wire):
    """What a tool may return instead of a plain value, to say more.

    The model reads `text_result_for_llm`, people `session_log`. A `rejected` result ends the run.
    """

    text_result_for_llm: str
    result_type: Literal["success", "failure", "rejected", "denied", "timeout"] = "success"
    error: str | None = None
    session_log: str | None = None
    binary_results_for_llm: list[BinaryResult] | None = None
    tool_telemetry: dict[str, Any] | None = None


class AppTool(Generic[P, R]):
    """A function as a tool, which can still be called as what it is; `spec` is what the model is told."""

    def __init__(self, function: Callable[P, R], spec: ToolSpec, signature: Signature) -> None:
        functools.update_wrapper(self, function)
        self.spec = spec
        self._function = function
        self._signature = signature

    def __call__(self, *args: P.args, **named: P.kwargs) -> R:
        return self._function(*args, **named)

    async def run(self, arguments: object, invocation: Invocation) -> object:
        """Carry out a call of the model's and return the wire's result; what goes wrong is a failure."""
        try:
            given = self._signature.bind(arguments, invocation)
        except InvalidParams as error:
            return _failure(f"The arguments of {self.spec.name} are wrong: {error}")
        return await app_code.attempt(
            f"the tool {self.spec.name}",
            self._result(given),
            lambda error: _failure(str(error) or type(error).__name__),
        )

    async def _result(self, given: dict[str, Any]) -> object:
        return on_the_wire(await app_code.call(self._function, **given))


@overload
def tool(function: Callable[P, R], /) -> AppTool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    skip_permission: bool = False,
    overrides_built_in_tool: bool = False,
    is_terminal: bool = False,
) -> Callable[[Callable[P, R]], AppTool[P, R]]: ...
def tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    skip_permission: bool = False,
    overrides_built_in_tool: bool = False,
    is_terminal: bool = False,
) -> AppTool[P, R] | Callable[[Callable[P, R]], AppTool[P, R]]:
    """Make a tool of a function, which may be async; one that isn't runs in a thread.

    Name, description and parameters are those of the function, its docstring and its annotations. The
    arguments are checked before it is called. It returns text, anything else that has a form in JSON, or a
    ToolResult; the text of what it raises goes to the model. A successful call of a terminal one ends the
    run. Raises TypeError when a parameter has no JSON Schema.
    """

    def make(function: Callable[P, R]) -> AppTool[P, R]:
        signature = Signature(function)
        spec = ToolSpec(
            name or getattr(function, "__name__", ""),
            signature.description if description is None else description,
            signature.schema,
            skip_permission,
            overrides_built_in_tool,
            is_terminal,
        )
        return AppTool(function, spec, signature)

    return make if function is None else make(function)


@runtime_checkable
class _Pydantic(Protocol):
    def model_dump(self, *, mode: str) -> Any: ...


def on_the_wire(value: object) -> object:
    """A tool's return value as its result: text as it is, other values as JSON."""
    match value:
        case ToolResult():
            return value
        case None:
            return ToolResult("")
        case str():
            return ToolResult(value)
        case Mapping() if "textResultForLlm" in value:
            return value  # pyright: ignore[reportUnknownVariableType]
        case _Pydantic():
            return ToolResult(wire.encode(value.model_dump(mode="json")).decode())
        case _:
            return ToolResult(wire.encode(value).decode())


def _failure(message: str) -> ToolResult:
    return ToolResult(message, "failure", message)
