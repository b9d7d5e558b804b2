"""A runtime in the app's own process: the one place where the client reaches the server."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from anyio.abc import TaskGroup

from turnwright.protocol.options import Durability
from turnwright.rpc.transport import Transport, memory_pair

if TYPE_CHECKING:
    from turnwright.server.embedded import ModelSource as ModelSource


@asynccontextmanager
async def in_process(
    tasks: TaskGroup,
    home: Path | None,
    source: "ModelSource | None",
    model: str | None,
    durability: Durability | None,
) -> AsyncGenerator[Transport, None]:
    """Start a runtime and connect to it; `tasks` serve the connection."""
    from turnwright.server.embedded import embedded  # loads the engine

    async with embedded(home, source, model, durability) as serve:
        ours, theirs = memory_pair()
        tasks.start_soon(serve, theirs)
        yield ours
