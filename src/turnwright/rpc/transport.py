"""Ways for messages to travel: over any byte stream, our own stdin and stdout, or memory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import anyio

from turnwright.rpc import framing
from turnwright.rpc.descriptors import DescriptorStream, claim_stdio

if TYPE_CHECKING:
    from anyio.abc import ByteStream
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

_CHUNK = 64 * 1024
"""Bytes of one read: as much as a pipe holds. For 128 KiB and more, each read, however little it brings, maps
and unmaps memory, which takes ten times as long."""
_MEMORY_MESSAGES = 256


class Transport(Protocol):
    """Carries whole messages, in order, both ways. One task receives, one sends."""

    async def receive(self) -> bytes | None:
        """Return the next message, None once the other side is gone.

        Raises RequestFailed for one message that can't be taken, after which the next may be received,
        and ConnectionClosed when nothing more can be made of what comes.
        """
        ...

    async def send(self, messages: Sequence[bytes]) -> None:
        """Send `messages` in one write; raise BrokenResourceError or ClosedResourceError of anyio."""
        ...

    async def aclose(self) -> None:
        """Hang up."""
        ...


class Framed:
    """Messages with a Content-Length over a byte stream; `limit` is the largest one in bytes."""

    def __init__(self, stream: "ByteStream", *, limit: int = framing.FRAME_LIMIT) -> None:
        self._stream = stream
        self._decoder = framing.Decoder(limit)

    async def receive(self) -> bytes | None:
        while (message := self._decoder.next_message()) is None:
            try:
                self._decoder.feed(await self._stream.receive(_CHUNK))
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return None
        return message

    async def send(self, messages: Sequence[bytes]) -> None:
        await self._stream.send(framing.encode(messages))

    async def aclose(self) -> None:
        await self._stream.aclose()


def stdio(*, limit: int = framing.FRAME_LIMIT) -> Framed:
    """Speak over the descriptors that this process was started with, and keep all others off them.

    Call it once, before anything writes: afterwards prints go to stderr and stdin is empty.
    """
    reading, writing = claim_stdio()
    return Framed(DescriptorStream(reading, writing), limit=limit)


class Memory:
    """One end of a pair in this process; a sender waits when the other end is 256 messages behind."""

    def __init__(
        self, incoming: "MemoryObjectReceiveStream[bytes]", outgoing: "MemoryObjectSendStream[bytes]"
    ) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    async def receive(self) -> bytes | None:
        try:
            return await self._incoming.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            return None

    async def send(self, messages: Sequence[bytes]) -> None:
        for message in messages:
            await self._outgoing.send(message)

    async def aclose(self) -> None:
        self._incoming.close()
        self._outgoing.close()


def memory_pair() -> tuple[Memory, Memory]:
    """Return two transports, each of which receives what the other sends."""
    to_left, from_right = anyio.create_memory_object_stream[bytes](_MEMORY_MESSAGES)
    to_right, from_left = anyio.create_memory_object_stream[bytes](_MEMORY_MESSAGES)
    return Memory(from_right, to_right), Memory(from_left, to_left)
