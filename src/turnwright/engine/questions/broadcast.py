"""A question to all clients: the first answer counts, and it is given up when nobody is left to answer."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import anyio

from turnwright.protocol.events import Data
from turnwright.protocol.options import SessionOptions

if TYPE_CHECKING:
    from turnwright.engine.session import Session

A = TypeVar("A")


async def ask_clients(
    s: "Session",
    request_id: str,
    requested: Data,
    completed: Callable[[A | None], Data],
    able: Callable[[SessionOptions], bool],
) -> A | None:
    """Emit `requested` and wait for an answer; None once no client is `able` to give one."""

    async def give_up() -> None:
        await s.clients.none_left(able)
        s.questions.answer(request_id, None)

    answer: A | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(give_up)
        answer = await s.questions.ask(request_id, requested, completed)
        group.cancel_scope.cancel()
    return answer
