"""Sessions of a wire client, as the tests of methods need them."""

from pathlib import Path
from typing import Any

from tests.cases.wired import WireClient
from turnwright.protocol import wire


async def started(client: WireClient, cwd: Path, **options: object) -> str:
    """A new session's id."""
    opened = await client.call("session.create", workingDirectory=str(cwd), **options)
    return opened["sessionId"]


async def prompted(client: WireClient, session: str, prompt: str) -> None:
    """Send a message and wait for the idle after it."""
    idles = client.types.count("session.idle")
    await client.call("session.send", sessionId=session, prompt=prompt)
    await client.until("session.idle", idles + 1)


async def asked(client: WireClient, type: str) -> dict[str, Any]:
    """Wait for the first event of a type; its data."""
    await client.until(type)
    event = next(event for event in client.events if event.type == type)
    return wire.builtins(event.data)
