"""Ask one question about a folder.

python examples/ask.py 'What is this project about?' [FOLDER]
"""

import asyncio
import sys

from turnwright import Client


async def main(question: str, folder: str = ".") -> None:
    async with Client() as client, await client.create_session(working_directory=folder) as session:
        reply = await session.send_and_wait(question, timeout=600)
        print(reply.data.content)
        turns = [event for event in await session.get_events() if event.type == "assistant.turn_start"]
        print(f"{len(turns)} turns, in {session.workspace_path}/events.jsonl", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python examples/ask.py QUESTION [FOLDER]")
    asyncio.run(main(*sys.argv[1:]))
