"""Take up a session again, as another process would: the log is all that it needs.

python examples/resume.py
"""

import asyncio

from turnwright import Client


async def main() -> None:
    async with Client() as client, await client.create_session() as session:
        await session.send_and_wait("My favourite word is heron. Remember it.", timeout=600)
        kept = session.id

    async with Client() as client:
        for info in await client.list_sessions():
            print(f"{info.session_id == kept}: {info.summary}")
        async with await client.resume_session(kept) as session:
            reply = await session.send_and_wait("What is my favourite word?", timeout=600)
            print(reply.data.content)


if __name__ == "__main__":
    asyncio.run(main())
