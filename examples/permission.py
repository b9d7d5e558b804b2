"""Decide what the model may do: read freely, write after a look at the diff, run nothing.

python examples/permission.py 'Fix the spelling in README.md'
"""

import asyncio
import sys

from turnwright import Client, Invocation, PermissionDecision, PermissionRequest, reject
from turnwright.protocol.permissions import Read, Write


def decide(request: PermissionRequest, invocation: Invocation) -> PermissionDecision:
    """Called for each thing that a tool wants to do; a plain function runs in a thread, so it may wait."""
    match request:
        case Read():
            return PermissionDecision("approve-once")
        case Write(file_name=name, diff=diff):
            print(f"{diff}\nWrite {name}? [y/N] ", end="", flush=True)
            if sys.stdin.readline().strip() == "y":
                return PermissionDecision("approve-once")
            return reject("Leave that file alone.")
        case _:
            return PermissionDecision("user-not-available")


async def main(prompt: str) -> None:
    async with Client() as client, await client.create_session(on_permission=decide) as session:
        reply = await session.send_and_wait(prompt, timeout=600)
        print(reply.data.content)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/permission.py PROMPT")
    asyncio.run(main(*sys.argv[1:]))
