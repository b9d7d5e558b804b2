"""Let the model go on until it says that the whole task is done; it may write files and run the tests.

python examples/autopilot.py 'Write a test for parser.py and make it pass.' [FOLDER]
"""

import asyncio
import sys

from turnwright import AutopilotLimits, Client
from turnwright.protocol.events.session import AutopilotStopped, TaskComplete


async def main(task: str, folder: str = ".") -> None:
    async with (
        Client() as client,
        await client.create_session(
            working_directory=folder,
            mode="autopilot",
            autopilot=AutopilotLimits(max_idle_continuations=3),
            allow_tools=["write", "shell(pytest:*)"],
        ) as session,
    ):
        session.on(TaskComplete, lambda event: print(f"Done: {event.data.summary}"))
        session.on(AutopilotStopped, lambda event: print(f"Stopped: {event.data.reason}"))
        await session.send_and_wait(task, timeout=None)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python examples/autopilot.py TASK [FOLDER]")
    asyncio.run(main(*sys.argv[1:]))
