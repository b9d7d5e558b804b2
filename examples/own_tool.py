"""Give the model a tool of your own: a function whose docstring and annotations say what it does.

python examples/own_tool.py
"""

import asyncio
from typing import Literal

from turnwright import Client, tool

STOCK = {"apples": 12, "pears": 0}


@tool(skip_permission=True)
def stock(item: Literal["apples", "pears"]) -> int:
    """How many pieces of an item are in the store."""
    return STOCK[item]


async def main() -> None:
    async with (
        Client() as client,
        await client.create_session(tools=[stock], available_tools=["stock"]) as session,
    ):
        reply = await session.send_and_wait("Which fruit must be ordered?", timeout=600)
        print(reply.data.content)


if __name__ == "__main__":
    asyncio.run(main())
