"""From a method's name to the function that serves it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, TypeVar

from msgspec import Struct

from turnwright.errors import InvalidParams, RequestFailed
from turnwright.protocol import wire
from turnwright.rpc.messages import METHOD_NOT_FOUND, Request

C = TypeVar("C")
P = TypeVar("P")


class Method(Struct, Generic[C, P], frozen=True):
    """A method: the type of its params and the function that takes the context and them.

    An `inline` one is finished, and its answer queued, before the next message is read; it must not wait
    for an answer from the other side.
    """

    params: type[P]
    call: Callable[[C, P], Awaitable[object]]
    inline: bool = False


class Router(Generic[C]):
    """A peer's handler that serves `methods`; `context` is handed to each of them."""

    def __init__(self, methods: Mapping[str, Method[C, Any]], context: C) -> None:
        self._methods = methods
        self._context = context

    def inline(self, method: str) -> bool:
        """Tell whether `method` must be finished before the next message is read."""
        found = self._methods.get(method)
        return found is not None and found.inline

    async def __call__(self, request: Request) -> object:
        """Serve `request`; raise RequestFailed when its method is unknown, InvalidParams for its params."""
        method = self._methods.get(request.method)
        if method is None:
            raise RequestFailed(METHOD_NOT_FOUND, f"Unhandled method {request.method}")
        return await method.call(self._context, _params(request, method.params))


def _params(request: Request, kind: type[P]) -> P:
    if memoryview(request.params)[0] != ord("{"):
        raise InvalidParams("params: must be an object")
    return wire.decode(request.params, kind)
