"""Show a reply while it is being written, and each tool call as it happens.

python examples/stream.py 'How many tests are there?'
"""

import asyncio
import sys

from turnwright import Client
from turnwright.protocol.events.conversation import MessageDelta
from turnwright.protocol.events.tools import ToolStart


async def main(prompt: str) -> None:
    async with Client() as client, await client.create_session(streaming=True) as session:
        session.on(MessageDelta, lambda event: print(event.data.delta_content, end="", flush=True))
        session.on(ToolStart, lambda event: print(f"[{event.data.tool_name} {event.data.arguments}]"))
        await session.send_and_wait(prompt, timeout=600)
        print()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/stream.py PROMPT")
    asyncio.run(main(*sys.argv[1:]))
